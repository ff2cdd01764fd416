"""The chart of docs/speed.md: groups of cases, ravel beside the best peer and the non-temporal copy."""

import matplotlib

matplotlib.use("svg")
import matplotlib.pyplot as plt        # noqa: E402
from matplotlib.ticker import FixedLocator, FuncFormatter, NullLocator       # noqa: E402

# Of the palette of Okabe and Ito, which the colour-blind can tell apart; differing in lightness and hatching too.
SERIES = [("ravel", "ravel", "#0072b2", ""), ("best peer", "best peer in each case", "#e69f00", "//"),
          ("ntcopy", "non-temporal copy", "#8c959f", "..")]
TITLES = {"headline": "f32, 16 headline cases", "ttc": "f32, TTC's 57 transposes", "narrow": "u8, f16, bf16, VNNI",
          "padded": "padded, blocks to blocks", "int4": "4-bit", "cache": "in cache, 4 KB to 4 MB", "models": "recorded from models",
          "random": "random permutations", "pairs": "pairs of the catalogue", "packed": "below a byte", "pixels": "pixels and samples",
          "tiles": "tiles"}
INK, PAPER = "#1f2328", "#ffffff"
DARK = {INK: "#e6edf3", PAPER: "#0d1117"}
TICKS = (0.25, 0.5, 0.7, 1, 1.5, 2, 3, 5, 10, 20, 50, 100, 200)


def bars(ax, groups, threads):
    """A bar a series from 1, which is memcpy, to the geometric mean; a line over the span of the cases."""
    for g, name in enumerate(groups):
        s = groups[name][threads]
        for k, (key, _, colour, hatch) in enumerate(SERIES):
            v = s.get(key)
            if not v:
                continue
            y, mean = g + (k - 1)*0.27, v["geomean"]
            ax.barh(y, mean - 1, left=1, height=0.25, color=colour, hatch=hatch, edgecolor=PAPER, linewidth=0)
            ax.plot([v["low"], v["high"]], [y, y], color=INK, linewidth=0.8)
            ax.annotate("%.2f" % mean, (max(v["high"], mean, 1), y), (4, 0), textcoords="offset points", va="center", fontsize=8, color=INK)


def axes(ax, groups, threads, low, high):
    ax.set_xscale("log")
    ax.set_xlim(low*0.9, high*1.6)
    ax.xaxis.set_major_locator(FixedLocator(TICKS))
    ax.xaxis.set_major_formatter(FuncFormatter(lambda v, _: "%g" % v))
    ax.xaxis.set_minor_locator(NullLocator())
    ax.axvline(1, color=INK, linewidth=1)
    ax.set_ylim(len(groups) - 0.5, -0.5)
    ax.set_yticks(range(len(groups)), [TITLES.get(g, g) for g in groups])
    ax.set_xlabel("time, memcpy of the same bytes = 1: less is better", color=INK)
    ax.set_title("%s thread%s" % (threads, "" if threads == "1" else "s"), color=INK, fontsize=10)
    ax.tick_params(colors=INK, length=3)
    ax.set_facecolor("none")
    for side in ax.spines.values():
        side.set_visible(False)


def for_dark_rooms(svg):
    """The same picture in dark colours where the reader's system asks for them."""
    rules = "".join('[style*="fill: %s"]{fill:%s !important}[style*="stroke: %s"]{stroke:%s !important}' % (a, b, a, b)
                    for a, b in DARK.items())
    style = "<style>@media (prefers-color-scheme: dark){%s}</style>" % rules
    at = svg.index("<defs>")
    return svg[:at] + style + "\n " + svg[at:]


def write(path, result):
    """Whether there was anything to draw."""
    groups = {g: v for g in TITLES if (v := result["summary"]["groups"].get(g)) and any(s["cases"] for s in v.values())}
    threads = [t for t in ("1", "2") if any(g.get(t, {}).get("cases") for g in groups.values())]
    if not threads:
        return False
    all_groups = {g: {t: v.get(t, {}) for t in threads} for g, v in groups.items()}
    ends = [s[key][end] for v in all_groups.values() for s in v.values() for key, *_ in SERIES if s.get(key) for end in ("low", "high")]
    plt.rcParams.update({"svg.fonttype": "none", "svg.hashsalt": "ravel", "font.family": "sans-serif", "font.size": 9, "hatch.linewidth": 0.6})
    fig, ax = plt.subplots(1, len(threads), figsize=(3 + 3.6*len(threads), 1.3 + 0.62*len(groups)), sharey=True, squeeze=False)
    for a, t in zip(ax[0], threads):
        bars(a, all_groups, t)
        axes(a, all_groups, t, min(ends + [1]), max(ends + [1]))
    handles = [plt.Rectangle((0, 0), 1, 1, facecolor=c, hatch=h, edgecolor=PAPER, linewidth=0, label=label) for _, label, c, h in SERIES]
    legend = fig.legend(handles=handles, loc="lower center", ncol=3, frameon=False, labelcolor=INK, title_fontsize=8,
                        title="bar: geometric mean of the group; line: its cases")
    legend.get_title().set_color(INK)
    fig.tight_layout(rect=(0, 0.6/fig.get_figheight(), 1, 1))
    fig.savefig(path, facecolor=PAPER, metadata={"Date": None})
    plt.close(fig)
    path.write_text(for_dark_rooms(path.read_text()))
    return True
