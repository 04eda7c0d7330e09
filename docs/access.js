// Names for the landmarks and focus for the scrolling tables that the theme's scripts add to a page.

let named = 0;

function correct() {
  for (const nav of document.querySelectorAll(".md-code__nav:not([aria-label])")) {
    named += 1;
    nav.setAttribute("aria-label", `Code block ${named}`);
  }
  for (const table of document.querySelectorAll(".md-typeset__scrollwrap:not([tabindex])")) { table.tabIndex = 0; }
}

correct();
new MutationObserver(correct).observe(document.body, { childList: true, subtree: true });
