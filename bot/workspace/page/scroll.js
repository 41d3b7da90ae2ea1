// Where a person reads in a list that grows. At the end they stay at the end; anywhere else the message in sight stays
// where it is, whatever changes above it or beside the list.

import { el } from "./dom.js";

const NEAR_END_PX = 60;

export function createScroll(root) {
  const later = el("button", { class: "newer", hidden: true }, "New messages ↓");
  let following = true; // at the end, so new messages are followed
  let anchor = null; // otherwise: the first message in sight and where it stands
  root.after(later);

  function look() {
    following = root.scrollHeight - root.scrollTop - root.clientHeight < NEAR_END_PX;
    anchor = following ? null : anchorOf(root);
    if (following) later.hidden = true;
  }

  function settle() {
    if (following) root.scrollTop = root.scrollHeight;
    else if (anchor?.article.isConnected) root.scrollTop += offsetOf(anchor.article, root) - anchor.offset;
  }

  function toEnd() {
    following = true;
    later.hidden = true;
    settle();
  }

  later.addEventListener("click", toEnd);
  root.addEventListener("scroll", look, { passive: true });
  new ResizeObserver(settle).observe(root);
  return { settle, toEnd, isFollowing: () => following, tellOfNew: () => (later.hidden = false) };
}

function anchorOf(root) {
  const article = [...root.querySelectorAll("article")].find(
    (one) => one.offsetTop + one.offsetHeight > root.scrollTop,
  );
  return article ? { article, offset: offsetOf(article, root) } : null;
}

const offsetOf = (article, root) => article.getBoundingClientRect().top - root.getBoundingClientRect().top;
