package watched

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/tools/cache"
)

func TestHandler(t *testing.T) {
	var seen []string
	name := func(p *corev1.Pod) string {
		if p == nil {
			return "-"
		}
		return string(p.UID)
	}
	handler := Handler(func(old, current *corev1.Pod) { seen = append(seen, name(old)+">"+name(current)) })
	pod := func(uid types.UID) *corev1.Pod {
		return &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Name: "p", UID: uid}}
	}
	tests := map[string]struct {
		event func()
		want  []string
	}{
		"an object that is new":                    {func() { handler.OnAdd(pod("a"), false) }, []string{"->a"}},
		"one that changed":                         {func() { handler.OnUpdate(pod("a"), pod("a")) }, []string{"a>a"}},
		"one that was replaced under its name":     {func() { handler.OnUpdate(pod("a"), pod("b")) }, []string{"a>-", "->b"}},
		"one that is gone":                         {func() { handler.OnDelete(pod("a")) }, []string{"a>-"}},
		"one whose deletion was missed":            {func() { handler.OnDelete(cache.DeletedFinalStateUnknown{Key: "p", Obj: pod("a")}) }, []string{"a>-"}},
		"an object of another kind is passed over": {func() { handler.OnAdd("x", false); handler.OnUpdate("x", "y"); handler.OnDelete("x") }, nil},
		"so is a missed one of unknown state":      {func() { handler.OnDelete(cache.DeletedFinalStateUnknown{Key: "p"}) }, nil},
	}
	for sentence, test := range tests {
		t.Run(sentence, func(t *testing.T) {
			seen = nil
			test.event()
			if diff := cmp.Diff(test.want, seen); diff != "" {
				t.Errorf("calls (-want +got):\n%s", diff)
			}
		})
	}
}

func TestAttach(t *testing.T) {
	informer := cache.NewSharedIndexInformer(&cache.ListWatch{}, &corev1.Pod{}, 0, cache.Indexers{})
	handlers := map[cache.SharedIndexInformer]cache.ResourceEventHandler{informer: Handler(func(_, _ *corev1.Pod) {})}
	synced, err := Attach(handlers)
	if err != nil || len(synced) != 1 || synced[0]() {
		t.Errorf("%d functions, %v, want one that waits for the informer", len(synced), err)
	}
	stop := make(chan struct{})
	close(stop)
	informer.Run(stop) // and so it has ended
	if _, err := Attach(handlers); err == nil {
		t.Error("an informer that has ended calls no handler, and that must not go unnoticed")
	}
}
