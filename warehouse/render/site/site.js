// Copying: texts that stand on the page, each beside its button.
async function copied(text) {
  try {
    await navigator.clipboard.writeText(text);
    return true;
  } catch {
    return false;
  }
}

// A character that is not seen is shown by its code, and copied as what it is.
const exact = (source) => "exact" in source.dataset ? JSON.parse(source.dataset.exact) : source.textContent;

for (const source of document.querySelectorAll("[data-exact]")) {
  source.addEventListener("copy", (event) => {
    if (String(getSelection()).trim() !== source.textContent.trim()) return;
    event.clipboardData.setData("text/plain", exact(source));
    event.preventDefault();
  });
}

for (const button of document.querySelectorAll("button[data-copies]")) {
  button.hidden = false;
  button.addEventListener("click", async () => {
    const source = document.getElementById(button.dataset.copies);
    const done = await copied(exact(source));
    if (!done) getSelection().selectAllChildren(source);
    button.textContent = done ? "Copied" : "Selected: copy with the keyboard";
    setTimeout(() => { button.textContent = "Copy"; }, 3000);
  });
}

// What has to be scrolled must be reachable with the keyboard.
const makeReachable = () => {
  for (const box of document.querySelectorAll(".table, .wrong > pre")) {
    const caption = box.querySelector("caption");
    if (box.scrollWidth > box.clientWidth) {
      box.tabIndex = 0;
      box.setAttribute("role", "group");
      const table = box.querySelector("[aria-labelledby]");
      const named = caption || (table && document.getElementById(table.getAttribute("aria-labelledby")));
      box.setAttribute("aria-label", named ? named.textContent : "Error");
    } else {
      for (const name of ["tabindex", "role", "aria-label"]) box.removeAttribute(name);
    }
  }
};
makeReachable();
addEventListener("resize", makeReachable);

// Statements: Enter asks, Shift+Enter begins a line, and what may be typed next is offered.
let lists = 0;
for (const field of document.querySelectorAll("textarea[data-completes]")) {
  const list = document.createElement("ul");
  const wrong = document.createElement("pre");
  const label = field.closest("label");
  list.className = "offers";
  list.id = `offers-${++lists}`;
  list.setAttribute("role", "listbox");
  list.setAttribute("aria-label", "What may be typed next");
  list.hidden = true;
  wrong.className = "mistake";
  wrong.setAttribute("role", "status");
  wrong.hidden = true;
  // A list that opens while one types is not heard of unless it is said.
  const offered = document.createElement("span");
  offered.className = "unseen";
  offered.setAttribute("role", "status");
  label.after(list, wrong, offered);
  field.setAttribute("aria-autocomplete", "list");
  field.setAttribute("aria-controls", list.id);
  let start = 0, chosen = -1, waiting = 0, asked = 0;

  const close = () => {
    list.hidden = true;
    chosen = -1;
    field.removeAttribute("aria-activedescendant");
  };
  const choose = (place) => {
    const items = [...list.children];
    chosen = (place + items.length) % items.length;
    items.forEach((item, at) => item.setAttribute("aria-selected", String(at === chosen)));
    items[chosen].scrollIntoView({ block: "nearest" });
    field.setAttribute("aria-activedescendant", items[chosen].id);
  };
  const take = (text) => {
    const end = field.selectionStart;
    field.setRangeText(text + (text.endsWith("(") || text.endsWith("=") ? "" : " "), start, end, "end");
    close();
    look();
  };
  const show = (answer) => {
    start = answer.start;
    list.replaceChildren(...answer.offers.map(([text, meaning], place) => {
      const item = document.createElement("li");
      const word = document.createElement("b");
      const said = document.createElement("span");
      item.id = `${list.id}-${place}`;
      item.setAttribute("role", "option");
      item.setAttribute("aria-selected", "false");
      word.textContent = text;
      said.textContent = meaning;
      item.append(word, said);
      item.addEventListener("pointerdown", (event) => { event.preventDefault(); take(text); });
      return item;
    }));
    list.hidden = answer.offers.length === 0 || document.activeElement !== field;
    field.removeAttribute("aria-activedescendant");
    chosen = -1;
    offered.textContent = list.hidden ? "" : `${answer.offers.length} words may follow; arrow down chooses one`;
    wrong.textContent = answer.wrong;
    wrong.hidden = !answer.wrong;
  };
  const look = () => {
    clearTimeout(waiting);
    waiting = setTimeout(async () => {
      const mine = ++asked, text = field.value.slice(0, field.selectionStart);
      try {
        const found = await fetch(`${field.dataset.completes}?${new URLSearchParams({ text })}`);
        if (found.ok && mine === asked) show(await found.json());
      } catch { close(); }
    }, 80);
  };
  field.addEventListener("input", look);
  field.addEventListener("blur", close);
  field.addEventListener("keydown", (event) => {
    const open = !list.hidden;
    if (event.key === "ArrowDown" && (open || event.ctrlKey)) { open ? choose(chosen + 1) : look(); event.preventDefault(); }
    else if (event.key === "ArrowUp" && open) { choose(chosen - 1); event.preventDefault(); }
    else if (event.key === "Escape" && open) { close(); event.preventDefault(); }
    else if ((event.key === "Enter" || event.key === "Tab") && open && chosen >= 0) {
      take(list.children[chosen].querySelector("b").textContent);
      event.preventDefault();
    } else if (event.key === "Enter" && !event.shiftKey) { field.form.requestSubmit(); event.preventDefault(); }
  });
}

// j and k: the next and the previous document of a list, or of the page of one.
const types = (field) => field.isContentEditable || /^(INPUT|TEXTAREA|SELECT)$/.test(field.tagName);
addEventListener("keydown", (event) => {
  if (!["j", "k"].includes(event.key) || event.ctrlKey || event.metaKey || event.altKey || types(event.target)) return;
  const way = event.key === "j" ? 1 : -1;
  const steps = [...document.querySelectorAll("[data-steps] tbody th a")];
  const to = steps.length
    ? steps[Math.max(0, steps.indexOf(document.activeElement) + way)]
    : document.querySelector(`main a[rel~="${way === 1 ? "next" : "prev"}"]`);
  if (!to) return;
  event.preventDefault();
  if (steps.length) to.focus();
  else to.click();
});
