// What an order has achieved in its task, with the order's picture, as SVG of the size of a link's preview. The server
// draws the preview itself; this one is in the reader's language, whose letters only the browser has for sure.
import { KIND_I } from "../schedule/ops.ts";
import { escapeXml, FONT, type Colours } from "./picture.ts";

export const [WIDTH, HEIGHT] = [1200, 630]; // px
const [MARGIN, FOOT, STAR] = [48, 40, 52];
const SIZES = [48, 40, 34, 28]; // px of the claim: the largest that fits
const WIDE = /[\u2e80-\uffff]/g; // letters as wide as they are tall
const NARROW = 0.6; // of its size, that another letter takes at most

type Words = { claim: string; facts: string; stars: number; most: number };

const SCALE = 2; // of the order's picture, whose numbers are those of a small one

/** For the order's picture, px of its own: its width, and the height of all rows. */
export const ROOM = { width: (WIDTH - 2 * MARGIN) / SCALE, height: 168 };

/** drawn: the order's picture, an SVG document that fits the room. */
export function awardPicture({ claim, facts, stars, most }: Words, drawn: string, colours: Colours) {
  const room = WIDTH - 2 * MARGIN - most * STAR;
  const wide = claim.match(WIDE)?.length ?? 0;
  const size = SIZES.find((each) => each * (wide + NARROW * (claim.length - wide)) <= room) ?? SIZES[SIZES.length - 1];
  const words = (y: number, px: number, fill: string, text: string, more = "") =>
    `<text x="${MARGIN}" y="${y}" font-size="${px}" fill="${fill}" ${more}>${escapeXml(text)}</text>`;
  const won = "★".repeat(stars) + "☆".repeat(most - stars);
  return (
    `<svg xmlns="http://www.w3.org/2000/svg" width="${WIDTH}" height="${HEIGHT}" viewBox="0 0 ${WIDTH} ${HEIGHT}" ` +
    `font-family="${FONT}"><rect width="${WIDTH}" height="${HEIGHT}" fill="${colours.surface}"/>` +
    words(92, size, colours.ink1, claim, 'font-weight="700"') +
    `<text x="${WIDTH - MARGIN}" y="92" font-size="${STAR}" fill="${colours.fill(KIND_I, 0, 1)}" ` +
    `text-anchor="end">${won}</text>` +
    words(140, 26, colours.ink2, facts) +
    `<g transform="translate(${MARGIN} 152) scale(${SCALE})">${drawn}</g>` +
    `${words(HEIGHT - FOOT, 26, colours.ink1, "Bubbleline", 'font-weight="700"')}</svg>`
  );
}
