"""Records a command in a terminal of 100×30 and writes it as an animated SVG; used by scripts/pictures.

    terminal_svg.py OUT.svg TITLE COMMAND [ARGUMENT…]

The SVG is a film strip: each frame lies below the one before, and one CSS animation moves the strip. Lines that
occur in several frames are stored once. Exits with the exit code of the command.
"""

import fcntl
import os
import pty
import select
import shlex
import struct
import sys
import termios
import time
from xml.sax.saxutils import escape

import pyte

COLUMNS, ROWS = 100, 30
CELL, LINE, MARGIN = 8.4, 18, 14
# At most so many frames a second, and the last one stays for so long.
RATE, LAST = 4, 6.0
DEADLINE = 300.0

# Class, colour on a light and on a dark ground. The contrast to the ground is at least 4.5 to 1.
COLOURS = {
    "ground": ("#ffffff", "#0d1117"), "default": ("#1f2328", "#e6edf3"), "dim": ("#59636e", "#9198a1"),
    "red": ("#b31d28", "#ff7b72"), "green": ("#116329", "#56d364"), "brown": ("#7d4e00", "#e3b341"),
    "blue": ("#0550ae", "#79c0ff"), "magenta": ("#8250df", "#d2a8ff"), "cyan": ("#1b6a75", "#56d4dd"),
}


def snapshot(screen):
    """The screen as a tuple of lines; a line is a tuple of runs (column, class, text)."""
    lines = []
    for row in range(ROWS):
        runs = []
        for column in range(COLUMNS):
            cell = screen.buffer[row][column]
            colour = cell.fg.removeprefix("bright")
            kind = colour if colour in COLOURS else "dim" if colour == "black" else "default"
            kind += " bold" if cell.bold else ""
            if runs and runs[-1][1] == kind:
                runs[-1][2] += cell.data
            else:
                runs.append([column, kind, cell.data])
        kept = [(column, kind, text.rstrip()) for column, kind, text in runs]
        lines.append(tuple(run for run in kept if run[2]))
    return tuple(lines)


def record(command):
    """Runs the command; returns its exit code and the frames as (second, lines)."""
    screen = pyte.Screen(COLUMNS, ROWS)
    stream = pyte.ByteStream(screen)
    stream.feed(b"\x1b[32m$\x1b[0m " + shlex.join(command).encode() + b"\r\n")
    frames = [(0.0, snapshot(screen))]
    child, terminal = pty.fork()
    if child == 0:
        os.environ.update(TERM="xterm-256color", LC_ALL="C.UTF-8")
        os.execvp(command[0], command)
    fcntl.ioctl(terminal, termios.TIOCSWINSZ, struct.pack("HHHH", ROWS, COLUMNS, 0, 0))
    begin = time.monotonic()
    open_ = True
    while open_:
        ready, _, _ = select.select([terminal], [], [], 1 / RATE)
        try:
            data = os.read(terminal, 65536) if ready else b""
            open_ = bool(data) or not ready
        except OSError:
            # The command has closed its end.
            data, open_ = b"", False
        stream.feed(data)
        now = time.monotonic() - begin
        if now > DEADLINE:
            sys.exit(f"{command[0]} took longer than {DEADLINE:.0f} s")
        lines = snapshot(screen)
        if lines != frames[-1][1]:
            # What comes within one interval is one frame.
            if now - frames[-1][0] < 1 / RATE and len(frames) > 1:
                frames[-1] = (frames[-1][0], lines)
            else:
                frames.append((now, lines))
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]), frames


def style(count, frames):
    def colours(index):
        return "".join(f"--{name}:{pair[index]};" for name, pair in COLOURS.items())

    total = frames[-1][0] + LAST
    strip = ROWS * LINE
    keys = "".join(
        f"{at / total * 100:.2f}%{{transform:translateY({-strip * number}px)}}"
        for number, (at, _) in enumerate(frames)
    )
    kinds = "".join(f".{name}{{fill:var(--{name})}}" for name in COLOURS)
    return (
        f":root{{{colours(0)}}}@media(prefers-color-scheme:dark){{:root{{{colours(1)}}}}}"
        "text{font:14px ui-monospace,'DejaVu Sans Mono',Menlo,Consolas,monospace;white-space:pre}"
        f".bold{{font-weight:700}}.frame{{stroke:var(--dim);stroke-opacity:.4}}{kinds}@keyframes play{{{keys}"
        f"to{{transform:translateY({-strip * (count - 1)}px)}}}}"
        f"#strip{{animation:play {total:.1f}s step-end infinite}}"
        "@media(prefers-reduced-motion:reduce){#strip{animation:none;"
        f"transform:translateY({-strip * (count - 1)}px)}}}}"
    )


def draw(title, frames):
    names, parts = {}, []
    for number, (_, lines) in enumerate(frames):
        for row, line in enumerate(lines):
            if not line:
                continue
            name = names.setdefault(line, f"l{len(names)}")
            parts.append(f'<use href="#{name}" y="{(number * ROWS + row) * LINE}"/>')
    defs = []
    for line, name in names.items():
        spans = "".join(
            f'<tspan class="{kind}" x="{column * CELL:.1f}">{escape(text)}</tspan>' for column, kind, text in line
        )
        defs.append(f'<text id="{name}" y="14">{spans}</text>')
    width, height = COLUMNS * CELL + 2 * MARGIN, ROWS * LINE + 2 * MARGIN
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width:.0f} {height}" width="{width:.0f}" '
        f'role="img" aria-label="{escape(title)}"><title>{escape(title)}</title>'
        f"<style>{style(len(frames), frames)}</style><defs>{''.join(defs)}</defs>"
        f'<rect x=".5" y=".5" width="{width - 1:.0f}" height="{height - 1}" rx="8" class="ground frame"/>'
        f'<svg x="{MARGIN}" y="{MARGIN}" width="{COLUMNS * CELL:.0f}" height="{ROWS * LINE}">'
        f'<g id="strip">{"".join(parts)}</g></svg></svg>\n'
    )


if __name__ == "__main__":
    out, title, *command = sys.argv[1:]
    code, frames = record(command)
    with open(out, "w", encoding="utf-8") as file:
        file.write(draw(title, frames))
    print(f"{out}: {len(frames)} frames, {os.path.getsize(out) // 1024} KiB, exit {code}", file=sys.stderr)
    sys.exit(code)
