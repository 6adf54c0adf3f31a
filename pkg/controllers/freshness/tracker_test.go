package freshness

import (
	"fmt"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/tools/cache"
)

var (
	web = types.NamespacedName{Namespace: "default", Name: "web"}
	api = types.NamespacedName{Namespace: "default", Name: "api"}
)

// store has read as far as it says.
type store string

func (s store) LastStoreSyncResourceVersion() string { return string(s) }

func TestBehind(t *testing.T) {
	type write struct {
		key               types.NamespacedName
		resource, version string
	}
	pods := func(versions ...string) (writes []write) {
		for _, version := range versions {
			writes = append(writes, write{web, "pods", version})
		}
		return writes
	}
	tests := map[string]struct {
		seen   string // by the cache of pods; that of replicasets has seen 50
		writes []write
		want   []Lag
	}{
		"nothing was written":                                  {"10", nil, nil},
		"the cache has not read as far as the write":           {"10", pods("11"), []Lag{{"pods", "11", "10"}}},
		"the cache has read exactly as far as the write":       {"11", pods("11"), nil},
		"the cache has read past the write":                    {"12", pods("11"), nil},
		"versions are numbers, not texts":                      {"99", pods("100"), []Lag{{"pods", "100", "99"}}},
		"versions are longer than any integer type":            {"99999999999999999999998", pods("99999999999999999999999"), []Lag{{"pods", "99999999999999999999999", "99999999999999999999998"}}},
		"the newest of several writes counts":                  {"11", pods("11", "12"), []Lag{{"pods", "12", "11"}}},
		"the newest counts also if it was noted first":         {"11", pods("12", "11"), []Lag{{"pods", "12", "11"}}},
		"a cache that has read nothing is behind":              {"", pods("11"), []Lag{{"pods", "11", ""}}},
		"a version that is no number cannot be waited for":     {"10", pods("eleven"), nil},
		"a cache whose version is no number is not waited for": {"ten", pods("11"), nil},
		"a write of another object does not count":             {"10", []write{{api, "pods", "11"}}, nil},
		"caches that are behind are told by resource": {"10", []write{{web, "replicasets", "51"}, {web, "pods", "11"}},
			[]Lag{{"pods", "11", "10"}, {"replicasets", "51", "50"}}},
		"only the cache that is behind is told": {"10", []write{{web, "replicasets", "50"}, {web, "pods", "11"}},
			[]Lag{{"pods", "11", "10"}}},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			tracker := NewTracker(map[string]Store{"pods": store(test.seen), "replicasets": store("50")})
			for _, write := range test.writes {
				tracker.Wrote(write.key, write.resource, write.version)
			}
			if diff := cmp.Diff(test.want, tracker.Behind(web)); diff != "" {
				t.Errorf("behind (-want +got):\n%s", diff)
			}
		})
	}
}

func TestLagSaysWhatIsWaitedFor(t *testing.T) {
	got := Lag{Resource: "pods", Wrote: "11", Seen: "10"}.String()
	if want := `the cache of pods is at resourceVersion "10", our last write at "11"`; got != want {
		t.Errorf("Lag says %q, want %q", got, want)
	}
}

func TestNotesAreDroppedOnceAllCachesHaveCaughtUp(t *testing.T) {
	seen := store("11")
	tracker := NewTracker(map[string]Store{"pods": &seen})
	tracker.Wrote(web, "pods", "11")
	if lags := tracker.Behind(web); lags != nil {
		t.Fatalf("behind by %v, want nothing", lags)
	}
	if len(tracker.writes) > 0 {
		t.Errorf("notes %v are left, want none", tracker.writes)
	}
}

func TestForget(t *testing.T) {
	tracker := NewTracker(map[string]Store{"pods": store("10")})
	tracker.Wrote(web, "pods", "11")
	tracker.Wrote(api, "pods", "11")
	tracker.Forget(web)
	if lags := tracker.Behind(web); lags != nil {
		t.Errorf("behind by %v after it was forgotten, want nothing", lags)
	}
	if lags := tracker.Behind(api); len(lags) != 1 {
		t.Errorf("the other object is behind by %v, want its own write", lags)
	}
}

// TestWithARealStore checks what client-go's store says about how far it has read, since
// everything here rests on that.
func TestWithARealStore(t *testing.T) {
	indexer := cache.NewIndexer(cache.MetaNamespaceKeyFunc, nil)
	tracker := NewTracker(map[string]Store{"pods": indexer})
	pod := func(name, version string) *corev1.Pod {
		return &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: name, ResourceVersion: version}}
	}
	steps := []struct {
		name   string
		write  string
		read   func() error
		behind bool
	}{
		{"a list has not read the write", "6", func() error { return indexer.Replace([]any{pod("a", "3")}, "5") }, true},
		{"an event of another object has", "", func() error { return indexer.Add(pod("b", "6")) }, false},
		{"a second write", "7", func() error { return nil }, true},
		{"an update has read it", "", func() error { return indexer.Update(pod("b", "7")) }, false},
		{"a third write", "8", func() error { return nil }, true},
		{"a deletion has read it", "", func() error { return indexer.Delete(pod("b", "8")) }, false},
		{"a fourth write", "9", func() error { return nil }, true},
		{"a bookmark has read it", "", func() error { indexer.Bookmark("9"); return nil }, false},
	}
	for _, step := range steps {
		if step.write != "" {
			tracker.Wrote(web, "pods", step.write)
		}
		if err := step.read(); err != nil {
			t.Fatal(err)
		}
		if lags := tracker.Behind(web); (len(lags) > 0) != step.behind {
			t.Errorf("%s: behind by %v, want behind = %v", step.name, lags, step.behind)
		}
	}
}

func TestManyWritersAtOnce(t *testing.T) {
	tracker := NewTracker(map[string]Store{"pods": store("10")})
	var group sync.WaitGroup
	for i := range 100 {
		group.Go(func() {
			tracker.Wrote(web, "pods", fmt.Sprint(100+i))
			tracker.Behind(web)
			tracker.Forget(api)
		})
	}
	group.Wait()
	if diff := cmp.Diff([]Lag{{"pods", "199", "10"}}, tracker.Behind(web)); diff != "" {
		t.Errorf("behind (-want +got):\n%s", diff)
	}
}
