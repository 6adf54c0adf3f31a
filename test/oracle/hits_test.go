package oracle

import "testing"

// hits counts how often each known difference was an excuse.
type hits map[string]int

// excuse reports whether the difference is known, and counts it.
func excuse[S any](h hits, differences []known[S], s S, d difference) bool {
	for _, known := range differences {
		if known.excuses(s, d) {
			h[known.name]++
			return true
		}
	}
	return false
}

// check fails for known differences that were none: either they are gone, or the usual cases
// no longer show them. Others may not.
func check[S any](t *testing.T, h hits, differences []known[S]) {
	t.Helper()
	for _, known := range differences {
		t.Logf("%5d × %s: %s", h[known.name], known.name, known.why)
		if h[known.name] == 0 && usual() {
			t.Errorf("the known difference %q was not seen", known.name)
		}
	}
}
