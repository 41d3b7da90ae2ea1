// The few emoji shortcodes that people and the app really use; all others stay as they were written.

export const EMOJI = {
  "+1": "👍",
  thumbsup: "👍",
  "-1": "👎",
  thumbsdown: "👎",
  eyes: "👀",
  white_check_mark: "✅",
  heavy_check_mark: "✔️",
  x: "❌",
  warning: "⚠️",
  hourglass: "⌛",
  hourglass_flowing_sand: "⏳",
  hand: "✋",
  raised_hand: "✋",
  wave: "👋",
  tada: "🎉",
  heart: "❤️",
  rocket: "🚀",
  fire: "🔥",
  smile: "😄",
  slightly_smiling_face: "🙂",
  thinking_face: "🤔",
  pray: "🙏",
  bulb: "💡",
  bell: "🔔",
  lock: "🔒",
  unlock: "🔓",
  memo: "📝",
  mag: "🔍",
  question: "❓",
  exclamation: "❗",
  octagonal_sign: "🛑",
  no_entry: "⛔",
  double_vertical_bar: "⏸️",
  pause_button: "⏸️",
  arrow_forward: "▶️",
  black_square_for_stop: "⏹️",
  stop_button: "⏹️",
  large_orange_diamond: "🔶",
  small_red_triangle: "🔺",
  white_circle: "⚪",
};

// What the reaction menu offers.
export const REACTIONS = ["+1", "eyes", "white_check_mark", "tada", "thinking_face", "x"];

export const emojiOf = (name) => (Object.hasOwn(EMOJI, name) ? EMOJI[name] : `:${name}:`);

export const withEmoji = (text) =>
  text.replace(/:([a-z0-9_+-]+):/g, (whole, name) => (Object.hasOwn(EMOJI, name) ? EMOJI[name] : whole));
