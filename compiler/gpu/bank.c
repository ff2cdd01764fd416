/* Counts the wavefronts and sectors of one instruction lane by lane. */
#include "bank.h"

const Banks banks_usual = {32, 32, 4};

/* The distinct words of one pass, with a lane that accesses each. */
typedef struct {
    int n, lane[BANKS_MAX];
    i64 word[BANKS_MAX];
} PassWords;

bool
bank_width(i64 bytes)
{
    return bytes >= 1 && bytes <= 16 && int_is_pow2(bytes);
}

int
bank_pass(const Banks *m, int width)
{
    int fill = m->banks * m->word / (width > m->word ? width : m->word);
    return fill < 1 ? 1 : fill < m->lanes ? fill : m->lanes;
}

static bool
is_active(const WarpAccess *w, int lane)
{
    return w->active >> lane & 1;
}

static bool
is_sound(const Banks *m, const WarpAccess *w)
{
    if (!int_is_pow2(m->lanes) || !int_is_pow2(m->banks) || !int_is_pow2(m->word) ||
        m->lanes > LANES_MAX || m->banks > BANKS_MAX || !bank_width(m->word) ||
        !bank_width(w->width))
        return false;
    for (int l = 0; l < m->lanes; l++)
        if (is_active(w, l) && (w->addr[l] < 0 || w->addr[l] > INT64_MAX - w->width))
            return false;
    return true;
}

static void
add_word(PassWords *s, i64 word, int lane)
{
    for (int i = 0; i < s->n; i++)
        if (s->word[i] == word)
            return;
    s->word[s->n] = word;
    s->lane[s->n++] = lane;
}

/* The number of words of `bank` in s.  The first two are recorded in *c as an example. */
static int
words_in(const PassWords *s, const Banks *m, int bank, BankCount *c)
{
    int n = 0;
    for (int i = 0; i < s->n; i++) {
        if (s->word[i] % m->banks != bank)
            continue;
        if (n < 2) {
            c->lane[n] = s->lane[i];
            c->word[n] = s->word[i];
        }
        n++;
    }
    c->bank = bank;
    return n;
}

/* The words in the fullest bank.  If that is above *worst, *c gets the example. */
static int
fullest(const PassWords *s, const Banks *m, int *worst, BankCount *c)
{
    int most = 0;
    for (int b = 0; b < m->banks; b++) {
        BankCount found = *c;
        int n = words_in(s, m, b, &found);
        most = n > most ? n : most;
        if (n > *worst) {
            *worst = n;
            *c = found;
        }
    }
    return most;
}

bool
bank_shared(const Banks *m, const WarpAccess *w, BankCount *c)
{
    int pass = 0, worst = 1;
    BankCount r = {0};
    if (!is_sound(m, w))
        return false;
    pass = bank_pass(m, w->width);
    for (int first = 0; first < m->lanes; first += pass) {
        PassWords s = {0};
        for (int l = first; l < first + pass; l++) {
            if (is_active(w, l) && w->addr[l] % w->width)
                return false;
            for (int b = 0; is_active(w, l) && b < w->width; b += m->word)
                add_word(&s, (w->addr[l] + b) / m->word, l);
        }
        r.ideal += s.n > 0;
        r.wavefronts += fullest(&s, m, &worst, &r);
    }
    r.conflicts = r.wavefronts - r.ideal;
    *c = r;
    return true;
}

/* The number of distinct blocks of `size` bytes that the active lanes access. */
static int
blocks(const Banks *m, const WarpAccess *w, i64 size)
{
    i64 seen[2 * LANES_MAX];
    int n = 0;
    for (int l = 0; l < m->lanes; l++) {
        if (!is_active(w, l))
            continue;
        i64 last = (w->addr[l] + w->width - 1) / size;
        for (i64 b = w->addr[l] / size; b <= last; b++) {
            int i = 0;
            while (i < n && seen[i] != b)
                i++;
            seen[i] = b;
            n += i == n;
        }
    }
    return n;
}

bool
bank_global(const Banks *m, const WarpAccess *w, SectorCount *c)
{
    i64 bytes = 0;
    if (!is_sound(m, w))
        return false;
    for (int l = 0; l < m->lanes; l++)
        bytes += is_active(w, l) ? w->width : 0;
    *c = (SectorCount){blocks(m, w, SECTOR_BYTES), blocks(m, w, LINE_BYTES),
                       (int)int_ceil_div(bytes, SECTOR_BYTES)};
    return true;
}
