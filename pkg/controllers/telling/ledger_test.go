package telling

import (
	"fmt"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
)

var (
	start = time.Date(2027, 3, 1, 12, 0, 0, 0, time.UTC)
	web   = types.NamespacedName{Namespace: "default", Name: "web"}
)

// notebook is a Ledger that writes down what is told. Things are numbers, and those of one
// sign can be added.
type notebook struct {
	*Ledger[*metav1.ObjectMeta, int]
	told []string
}

func newNotebook() *notebook {
	n := &notebook{}
	n.Ledger = NewLedger(
		func(object *metav1.ObjectMeta, sum int) {
			n.told = append(n.told, fmt.Sprintf("%s %d", object.UID, sum))
		},
		func(sum, next int) (int, bool) { return sum + next, (sum < 0) == (next < 0) },
	)
	return n
}

func named(uid types.UID) *metav1.ObjectMeta {
	return &metav1.ObjectMeta{Namespace: web.Namespace, Name: web.Name, UID: uid}
}

// at is something that happens, or, with what 0, a look at what is due.
type at struct {
	after time.Duration // the start
	times int
	what  int
}

const look = 0

func TestWhatIsToldAndWhen(t *testing.T) {
	single := func(count int) (told []string) {
		for range count {
			told = append(told, "a 1")
		}
		return told
	}
	tests := map[string]struct {
		events []at
		told   []string      // after all of it
		left   time.Duration // as the last look says
	}{
		"few are told one by one, and nothing is left": {[]at{{0, Singles, 1}, {0, 1, look}}, single(Singles), 0},
		"what is beyond waits for the end of the burst": {
			[]at{{0, 1000, 1}, {0, 1, look}}, single(Singles), quiet},
		"and is told in one sum a second after the last": {
			[]at{{0, 500, 1}, {900 * time.Millisecond, 500, 1}, {1899 * time.Millisecond, 1, look}, {1900 * time.Millisecond, 1, look}},
			append(single(Singles), "a 974"), 0},
		"but not a moment before": {
			[]at{{0, 500, 1}, {900 * time.Millisecond, 500, 1}, {1899 * time.Millisecond, 1, look}}, single(Singles), time.Millisecond},
		"a burst without an end is summed up after the longest time": {
			[]at{{0, 100, 1}, {longest - time.Millisecond, 1, 1}, {longest, 1, look}}, append(single(Singles), "a 75"), 0},
		"sums are as far apart as that too": {
			[]at{{0, 100, 1}, {time.Second, 1, look}, {2 * time.Second, 1, 1}, {3 * time.Second, 1, look}},
			append(single(Singles), "a 74"), 8 * time.Second},
		"though nothing is kept for longer": {
			[]at{{0, 100, 1}, {time.Second, 1, look}, {2 * time.Second, 1, 1}, {11 * time.Second, 1, look}},
			append(single(Singles), "a 74", "a 1"), 0},
		"one more may be told by itself after a while": {
			[]at{{0, Singles, 1}, {refill, 2, 1}, {refill, 1, look}}, single(Singles + 1), quiet},
		"not by a moment earlier": {
			[]at{{0, Singles, 1}, {refill - time.Millisecond, 1, 1}}, single(Singles), 0},
		"and as many as before after a long while": {
			[]at{{0, Singles, 1}, {Singles * refill, Singles, 1}}, single(2 * Singles), 0},
		"never more than that, however long it was": {
			[]at{{0, 1, 1}, {100 * Singles * refill, Singles + 1, 1}}, single(Singles + 1), 0},
		"what happens while others are kept is told after them": {
			[]at{{0, Singles + 1, 1}, {2 * refill, 1, 1}, {2 * refill, 1, look}}, append(single(Singles), "a 2"), 0},
		"what has no sum is told in the order in which it began": {
			[]at{{0, Singles, 1}, {0, 1, 5}, {0, 1, -7}, {0, 1, 6}, {0, 1, -8}, {quiet, 1, look}}, append(single(Singles), "a 11", "a -15"), 0},
		"a clock that is put back holds nothing up": {
			[]at{{time.Hour, Singles + 1, 1}, {0, 1, look}}, append(single(Singles), "a 1"), 0},
		"nor does it keep what happens later from being told": {
			[]at{{time.Hour, Singles, 1}, {0, 1, 1}, {refill, 1, look}, {2 * refill, 1, 1}}, append(single(Singles), "a 1", "a 1"), 0},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			n := newNotebook()
			var left time.Duration
			for _, event := range test.events {
				now := start.Add(event.after)
				for range event.times {
					if event.what == look {
						left = n.Due(web, now)
					} else {
						n.Tell(named("a"), event.what, now)
					}
				}
			}
			if diff := cmp.Diff(test.told, n.told); diff != "" {
				t.Errorf("told (-want +got):\n%s", diff)
			}
			if left != test.left {
				t.Errorf("%s are left, want %s", left, test.left)
			}
		})
	}
}

func TestNothingIsForgottenUntold(t *testing.T) {
	tests := map[string]struct {
		end  func(*notebook)
		told string
	}{
		"the object is gone":                 {func(n *notebook) { n.Close(web) }, "a 3"},
		"the loop ends":                      {func(n *notebook) { n.CloseAll() }, "a 3"},
		"another object has its name by now": {func(n *notebook) { n.Tell(named("b"), 9, start) }, "b 9"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			n := newNotebook()
			for range Singles + 3 {
				n.Tell(named("a"), 1, start)
			}
			n.told = nil
			test.end(n)
			if got := n.told[len(n.told)-1]; got != test.told {
				t.Errorf("told last: %s, want %s", got, test.told)
			}
			if n.told[0] != "a 3" {
				t.Errorf("told first: %s, want what was kept", n.told[0])
			}
			for key, page := range n.pages {
				if page.uid == "a" || page.object != nil || page.kept != nil {
					t.Errorf("%s is remembered: %+v", key, page)
				}
			}
		})
	}
}
