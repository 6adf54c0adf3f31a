package ownership

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/tools/cache"
)

var kind = appsv1.SchemeGroupVersion.WithKind("ReplicaSet")

func owner(deleted bool) *appsv1.ReplicaSet {
	rs := &appsv1.ReplicaSet{ObjectMeta: metav1.ObjectMeta{Name: "web", Namespace: "shop", UID: "mine"}}
	if deleted {
		rs.DeletionTimestamp = &metav1.Time{}
	}
	return rs
}

// pod returns a Pod; controller is the UID of what controls it, "" if nothing does.
func pod(name, app string, controller types.UID, deleted bool) *corev1.Pod {
	p := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Name: name, Namespace: "shop", UID: types.UID("uid-" + name), Labels: map[string]string{"app": app}}}
	if controller != "" {
		p.OwnerReferences = []metav1.OwnerReference{*metav1.NewControllerRef(&metav1.ObjectMeta{Name: "web", UID: controller}, kind)}
	}
	if deleted {
		p.DeletionTimestamp = &metav1.Time{}
	}
	return p
}

func names(pods []*corev1.Pod) string {
	var all []string
	for _, p := range pods {
		all = append(all, p.Name)
	}
	return strings.Join(all, " ")
}

func TestSort(t *testing.T) {
	candidates := []*corev1.Pod{
		pod("kept", "web", "mine", false), pod("kept-leaving", "web", "mine", true),
		pod("strayed", "other", "mine", false), pod("orphan", "web", "", false),
		pod("orphan-leaving", "web", "", true), pod("stranger", "other", "", false),
		pod("theirs", "web", "theirs", false),
	}
	web := labels.SelectorFromSet(labels.Set{"app": "web"})
	tests := map[string]struct {
		owner                *appsv1.ReplicaSet
		selector             labels.Selector
		keep, adopt, release string
	}{
		"an owner keeps, adopts and releases":               {owner(false), web, "kept kept-leaving", "orphan", "strayed"},
		"one that is being deleted only keeps":              {owner(true), web, "kept kept-leaving", "", ""},
		"an empty selector matches nothing, not everything": {owner(false), labels.Everything(), "", "", "kept kept-leaving strayed"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			claim := Sort(test.owner, test.selector, candidates)
			got := [3]string{names(claim.Keep), names(claim.Adopt), names(claim.Release)}
			if want := [3]string{test.keep, test.adopt, test.release}; got != want {
				t.Errorf("keep, adopt, release: got %q, want %q", got, want)
			}
			if claim.Settled() != (test.adopt == "" && test.release == "") {
				t.Error("Settled does not say whether there is anything to do")
			}
		})
	}
}

// server is an Owner's view of an API server: it records patches and answers with errors.
type server struct {
	patches []string
	live    metav1.Object
	liveErr error
	errs    map[string]error
}

func (s *server) owner() Owner[*corev1.Pod] {
	return Owner[*corev1.Pod]{
		Object: owner(false),
		Kind:   kind,
		Live:   func(context.Context) (metav1.Object, error) { return s.live, s.liveErr },
		Patch: func(_ context.Context, p *corev1.Pod, patch []byte) (*corev1.Pod, error) {
			s.patches = append(s.patches, p.Name+" "+string(patch))
			return p, s.errs[p.Name]
		},
	}
}

func TestSettlePatchesOwnerReferences(t *testing.T) {
	s := &server{live: owner(false)}
	claim := Claim[*corev1.Pod]{Adopt: []*corev1.Pod{pod("orphan", "web", "", false)}, Release: []*corev1.Pod{pod("strayed", "x", "mine", false)}}
	settled, err := s.owner().Settle(t.Context(), claim)
	if err != nil || names(settled) != "strayed orphan" {
		t.Errorf("settled %q, %v", names(settled), err)
	}
	want := []string{
		`strayed {"metadata":{"uid":"uid-strayed","ownerReferences":[{"$patch":"delete","uid":"mine"}]}}`,
		`orphan {"metadata":{"uid":"uid-orphan","ownerReferences":[{"apiVersion":"apps/v1","kind":"ReplicaSet","name":"web","uid":"mine","controller":true,"blockOwnerDeletion":true}]}}`,
	}
	if diff := cmp.Diff(want, s.patches); diff != "" {
		t.Errorf("patches (-want +got):\n%s", diff)
	}
}

func TestSettleStopsAtNoSingleObject(t *testing.T) {
	gone := apierrors.NewNotFound(corev1.Resource("pods"), "gone")
	s := &server{live: owner(false), errs: map[string]error{"gone": gone, "stuck": errors.New("no")}}
	settled, err := s.owner().Settle(t.Context(), Claim[*corev1.Pod]{
		Adopt: []*corev1.Pod{pod("gone", "web", "", false), pod("stuck", "web", "", false), pod("fine", "web", "", false)},
	})
	if names(settled) != "fine" || err == nil || err.Error() != "adopting stuck: no" {
		t.Errorf("settled %q, %v", names(settled), err)
	}
}

func TestNothingIsAdoptedForAnOwnerThatIsGone(t *testing.T) {
	replaced := owner(false)
	replaced.UID = "another"
	tests := map[string]struct {
		live metav1.Object
		err  error
		want string
	}{
		"it cannot be read":                 {nil, errors.New("no answer"), "no answer"},
		"it is not there any more":          {nil, apierrors.NewNotFound(appsv1.Resource("replicasets"), "web"), ""},
		"it was replaced":                   {replaced, nil, ""},
		"it is being deleted on the server": {owner(true), nil, ""},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			s := &server{live: test.live, liveErr: test.err}
			_, err := s.owner().Settle(t.Context(), Claim[*corev1.Pod]{Adopt: []*corev1.Pod{pod("orphan", "web", "", false)}})
			if (err != nil) != (test.want != "") || err != nil && !strings.Contains(err.Error(), test.want) || len(s.patches) != 0 {
				t.Errorf("error %v, patches %v", err, s.patches)
			}
		})
	}
}

func TestNoPatchIsBegunWhenStopping(t *testing.T) {
	s := &server{live: owner(false)}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	_, _ = s.owner().Settle(ctx, Claim[*corev1.Pod]{Release: []*corev1.Pod{pod("strayed", "x", "mine", false)}, Adopt: []*corev1.Pod{pod("orphan", "web", "", false)}})
	if len(s.patches) != 0 {
		t.Errorf("patches %v", s.patches)
	}
}

func TestIndex(t *testing.T) {
	indexer := cache.NewIndexer(cache.MetaNamespaceKeyFunc, Indexers())
	elsewhere, intruder := pod("elsewhere", "web", "", false), pod("intruder", "web", "mine", false)
	elsewhere.Namespace, intruder.Namespace = "other", "other"
	for _, p := range []*corev1.Pod{pod("a", "web", "mine", false), pod("b", "web", "theirs", false), pod("c", "web", "", false), elsewhere, intruder} {
		if err := indexer.Add(p); err != nil {
			t.Fatal(err)
		}
	}
	if got := names(Owned[*corev1.Pod](indexer, "shop", "mine")); got != "a" {
		t.Errorf("owned %q", got)
	}
	if got := names(Orphans[*corev1.Pod](indexer, "shop")); got != "c" {
		t.Errorf("orphans %q", got)
	}
	if _, err := Indexers()[indexName]("no object"); err == nil {
		t.Error("what has no metadata must be an error")
	}
	defer func() {
		if recover() == nil {
			t.Error("a missing index must not go unnoticed")
		}
	}()
	Owned[*corev1.Pod](cache.NewIndexer(cache.MetaNamespaceKeyFunc, cache.Indexers{}), "shop", "mine")
}
