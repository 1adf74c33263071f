"""A marimo notebook on the sample data: choose a test set, a measure and a system, and see how far the other systems
are ahead of it.

    marimo edit docs/examples/marimo_notebook.py
"""

import marimo

app = marimo.App(app_title="Which differences are real?")


@app.cell
def _():
    import marimo as mo

    import evalhouse as eh

    return eh, mo


@app.cell
def _(eh):
    # Your own warehouse: eh.open("evals.duckdb")
    w = eh.open(sample=True)
    systems = sorted(row["system"] for row in w.score("F1", "all", on="TST3"))
    return systems, w


@app.cell
def _(mo, systems):
    test_set = mo.ui.dropdown(["TST3", "TST4"], value="TST3", label="test set")
    measure = mo.ui.dropdown(["F1", "recall", "precision"], value="F1", label="measure")
    baseline = mo.ui.dropdown(systems, value="NYU", label="compare all with")
    mo.hstack([test_set, measure, baseline], justify="start")
    return baseline, measure, test_set


@app.cell
def _(baseline, measure, test_set, w):
    # The statement runs again whenever one of the three changes.
    answer = w.compare(measure.value, "all", against=baseline.value, on=test_set.value, adjust="holm")
    answer
    return (answer,)


@app.cell
def _(answer):
    answer.plot()
    return


@app.cell
def _(answer, mo):
    better = [row["system_a"] for row in answer if row["verdict"] == "significant" and row["difference"] > 0]
    mo.md(f"Significantly better: {', '.join(better) or 'none'}.")
    return (better,)


if __name__ == "__main__":
    app.run()
