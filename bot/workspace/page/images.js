// Pictures. The page asks nothing outside for anything, so only the workspace's own and inline pictures are shown;
// for any other there is its description and a link.

import { el, span } from "./dom.js";
import { link } from "./links.js";

function own(address) {
  try {
    const url = new URL(address, location.href);
    return url.origin === location.origin || /^data:image\/(png|jpeg|gif|webp);/.test(address);
  } catch {
    return false;
  }
}

export function picture(address, alt, className) {
  if (address && own(address)) return el("img", { src: address, alt, class: className, loading: "lazy" });
  return span("picture-link", "🖼 ", address ? link(address, alt) : alt || "picture");
}

export const imageElement = (element) =>
  picture(element.image_url ?? element.slack_file?.url, element.alt_text ?? "", "inline-image");

export function imageBlock(block) {
  const title = block.title?.text;
  return el(
    "figure",
    { class: "image" },
    title && el("figcaption", {}, title),
    picture(block.image_url ?? block.slack_file?.url, block.alt_text ?? "", "block-image"),
  );
}
