// How the search of the site ranks its results: a page that is called as the reader asks comes first. Its name is that
// of its file or its title, in the singular or the plural. All else is as Sphinx does it.
var Scorer = {
  score: ([file, title, anchor, , score]) => {
    const words = (text) => text.toLowerCase().split(/[^\p{Letter}\p{Number}]+/u).filter(Boolean).join(" ");
    const singular = (text) => words(text).replace(/s$/, "");
    const asked = new URLSearchParams(location.search).get("q") || "";
    if (anchor) return score;
    const names = [file.split("/").pop(), title];
    if (names.some((name) => words(name) === words(asked))) return score + 2000;
    if (names.some((name) => singular(name) === singular(asked))) return score + 1000;
    return score;
  },
  objNameMatch: 11,
  objPartialMatch: 6,
  objPrio: { 0: 15, 1: 5, 2: -5 },
  objPrioDefault: 0,
  title: 15,
  partialTitle: 7,
  term: 5,
  partialTerm: 2,
};
