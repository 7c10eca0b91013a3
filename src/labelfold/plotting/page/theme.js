// Colors on a light and on a dark ground. A color is red, green and blue from 0 to 255.

export const THEMES = {
  light: { ground: [255, 255, 255], ink: [27, 31, 36] },
  dark: { ground: [19, 22, 27], ink: [236, 239, 243] },
};
const TEXT_CONTRAST = 4.5; // to 1, WCAG's bound for body text
const POINT_CONTRAST = 2; // on the dark ground

export const parseColor = (hex) => [1, 3, 5].map((start) => parseInt(hex.slice(start, start + 2), 16));

function luminance(color) {
  const [red, green, blue] = color.map((part) => {
    const share = part / 255;
    return share <= 0.04045 ? share / 12.92 : ((share + 0.055) / 1.055) ** 2.4;
  });
  return 0.2126 * red + 0.7152 * green + 0.0722 * blue;
}

function contrast(one, other) {
  const [low, high] = [luminance(one), luminance(other)].sort((a, b) => a - b);
  return (high + 0.05) / (low + 0.05);
}

// The color, mixed with ink until it has that contrast with the ground.
function readable(color, { ground, ink }, least) {
  let mixed = color;
  for (let share = 0.04; contrast(mixed, ground) < least && share <= 1; share += 0.04) {
    mixed = color.map((part, k) => Math.round(part + share * (ink[k] - part)));
  }
  return mixed;
}

export const textColor = (color, theme) => readable(color, theme, TEXT_CONTRAST);

// On the light ground the palette is used as it is. On the dark one, black and gray change sides.
export function pointColor(color, theme) {
  if (theme !== THEMES.dark) return color;
  const isGray = Math.max(...color) - Math.min(...color) < 12;
  return readable(isGray ? color.map((part) => 255 - part) : color, theme, POINT_CONTRAST);
}
