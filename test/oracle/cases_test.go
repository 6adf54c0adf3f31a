package oracle

import (
	"math/rand/v2"
	"os"
	"strconv"
	"testing"
)

// usualSeed is the seed where the environment names none, so that every run of the tests
// looks at the same cases.
const usualSeed = 20371

// dice makes the random choices of one case.
type dice struct {
	*rand.Rand
	nasty bool // this case has things in it that seldom are
}

// chance reports true in the given share of cases.
func (d dice) chance(percent int) bool { return d.IntN(100) < percent }

// odd reports true in the given share of nasty cases, and never in others.
func (d dice) odd(percent int) bool { return d.nasty && d.chance(percent) }

// pick returns one of the choices.
func pick[T any](d dice, choices ...T) T { return choices[d.IntN(len(choices))] }

// each runs a check on random cases and stops at the first that fails. A failure names
// the two variables that bring it back: ORACLE_SEED starts another series of cases, and
// ORACLE_CASE runs only one of the series.
func each(t *testing.T, count int, check func(*testing.T, dice)) {
	t.Helper()
	seed, _ := number(t, "ORACLE_SEED", usualSeed)
	first, single := number(t, "ORACLE_CASE", 0)
	if single {
		count = 1
	}
	for n := first; n < first+uint64(count); n++ {
		d := dice{Rand: rand.New(rand.NewPCG(seed, n))}
		d.nasty = d.chance(60)
		check(t, d)
		if t.Failed() {
			t.Fatalf("this was ORACLE_SEED=%d ORACLE_CASE=%d", seed, n)
		}
	}
	t.Logf("%d cases, ORACLE_SEED=%d", count, seed)
}

// usual reports whether the environment asks for no other cases than the usual ones.
func usual() bool {
	_, seed := os.LookupEnv("ORACLE_SEED")
	_, single := os.LookupEnv("ORACLE_CASE")
	return !seed && !single
}

// number reads a variable of the environment, and reports whether it is set.
func number(t *testing.T, name string, otherwise uint64) (uint64, bool) {
	t.Helper()
	text, set := os.LookupEnv(name)
	if !set {
		return otherwise, false
	}
	value, err := strconv.ParseUint(text, 10, 64)
	if err != nil {
		t.Fatalf("reading %s, which should be a number: %v", name, err)
	}
	return value, true
}
