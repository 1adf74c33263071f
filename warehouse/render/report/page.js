const copies = JSON.parse(document.getElementById("copies").textContent);

async function copied(text) {
  try {
    await navigator.clipboard.writeText(text);
    return true;
  } catch {
    // Where a page may not write to the clipboard by itself, it may still copy what is selected.
    const field = document.createElement("textarea");
    field.value = text;
    field.setAttribute("readonly", "");
    field.style.cssText = "position: fixed; opacity: 0";
    document.body.append(field);
    field.select();
    const done = document.execCommand("copy");
    field.remove();
    return done;
  }
}

for (const tools of document.querySelectorAll(".copying")) {
  const status = tools.querySelector("[role=status]");
  tools.hidden = false;
  for (const button of tools.querySelectorAll("button")) {
    button.addEventListener("click", async () => {
      const done = await copied(copies[button.dataset.of][button.dataset.copy]);
      status.textContent = done ? "Copied" : "The browser did not let this be copied";
      button.focus();
      setTimeout(() => { status.textContent = ""; }, 4000);
    });
  }
}

// What has to be scrolled must be reachable with the keyboard.
const makeReachable = () => {
  for (const box of document.querySelectorAll(".table")) {
    if (box.scrollWidth > box.clientWidth) {
      box.tabIndex = 0;
      box.setAttribute("role", "region");
      box.setAttribute("aria-label", box.querySelector("caption").textContent);
    } else {
      box.removeAttribute("tabindex");
      box.removeAttribute("role");
      box.removeAttribute("aria-label");
    }
  }
};
makeReachable();
addEventListener("resize", makeReachable);
