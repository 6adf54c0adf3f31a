package scale

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// play is what becomes of a ReplicaSet of three Pods, moment by moment.
type play struct {
	Snapshot
	failures Failures
	names    int
	ran      bool // whether Pods run before they fail
}

func newPlay() *play { return &play{Snapshot: newSnapshot(3, nil)} }

// look looks at what is there, and makes the Pods that may be made.
func (p *play) look() *play {
	p.failures = p.failures.After(p.Snapshot)
	p.Failures = p.failures
	for range Decide(p.Snapshot).Create {
		p.names++
		p.Active = append(p.Active, newPod(fmt.Sprintf("pod-%d", p.names), func(pod *corev1.Pod) {
			pod.CreationTimestamp = metav1.NewTime(p.Now.Truncate(time.Second))
		}))
	}
	return p
}

func (p *play) pass(d time.Duration) *play {
	p.Now = p.Now.Add(d)
	return p.look()
}

// fail lets the Pods that were made first fail, without having run.
func (p *play) fail(count int) *play {
	for _, pod := range p.Active[:count] {
		pod.Status = corev1.PodStatus{Phase: corev1.PodFailed, Reason: "NodeAffinity", Message: "no"}
		if p.ran {
			pod.Status.ContainerStatuses = []corev1.ContainerStatus{{State: corev1.ContainerState{
				Terminated: &corev1.ContainerStateTerminated{FinishedAt: metav1.NewTime(p.Now)},
			}}}
		}
		p.Failed = append(p.Failed, pod)
	}
	p.Active = p.Active[count:]
	return p.look()
}

// goOn lets the Pods of a number of waves fail, each once it was made.
func (p *play) goOn(waves int) *play {
	for range waves {
		p.fail(3)
		p.pass(p.failures.Left(p.Now))
	}
	return p
}

func TestWavesOfFailures(t *testing.T) {
	type state struct {
		Waves  int
		Left   time.Duration
		Active int
	}
	tests := map[string]struct {
		play func(p *play) *play
		want state
	}{
		"nothing fails":                                  {func(p *play) *play { return p }, state{0, 0, 3}},
		"one is replaced at once":                        {func(p *play) *play { return p.fail(1) }, state{1, 0, 3}},
		"all are replaced at once":                       {func(p *play) *play { return p.fail(3) }, state{1, 0, 3}},
		"one after the other of a wave is":               {func(p *play) *play { return p.fail(1).fail(1).fail(1) }, state{1, 0, 3}},
		"so are those of the second wave only later":     {func(p *play) *play { return p.fail(3).fail(3) }, state{2, 10 * time.Second, 0}},
		"the others of that wave make it no longer":      {func(p *play) *play { return p.fail(3).fail(1).pass(4 * time.Second).fail(2) }, state{2, 6 * time.Second, 0}},
		"a moment before the pause is over":              {func(p *play) *play { return p.goOn(1).fail(3).pass(10*time.Second - 1) }, state{2, 1, 0}},
		"the pause is over":                              {func(p *play) *play { return p.goOn(1).fail(3).pass(10 * time.Second) }, state{2, 0, 3}},
		"the third wave waits twice as long":             {func(p *play) *play { return p.goOn(2).fail(3) }, state{3, 20 * time.Second, 0}},
		"the sixth":                                      {func(p *play) *play { return p.goOn(5).fail(3) }, state{6, 160 * time.Second, 0}},
		"the seventh waits the longest":                  {func(p *play) *play { return p.goOn(6).fail(3) }, state{7, 5 * time.Minute, 0}},
		"none waits longer":                              {func(p *play) *play { return p.goOn(200).fail(3) }, state{201, 5 * time.Minute, 0}},
		"one that stays for 10 seconds ends it":          {func(p *play) *play { return p.goOn(4).pass(0).pass(10 * time.Second) }, state{0, 0, 3}},
		"one that stays for less does not":               {func(p *play) *play { return p.goOn(4).pass(0).pass(10*time.Second - 1).fail(3) }, state{5, 80 * time.Second, 0}},
		"after that it begins anew":                      {func(p *play) *play { return p.goOn(4).pass(0).pass(10 * time.Second).fail(3) }, state{1, 0, 3}},
		"one that was there before proves nothing":       {func(p *play) *play { return p.fail(1).pass(time.Minute).pass(time.Minute).fail(0) }, state{0, 0, 3}},
		"half an hour in which none was made ends it":    {func(p *play) *play { return p.goOn(4).fail(3).wants(0).pass(30 * time.Minute) }, state{0, 0, 0}},
		"a longer size waits, too":                       {func(p *play) *play { return p.goOn(1).fail(3).wants(9).look() }, state{2, 10 * time.Second, 0}},
		"a clock that is set back makes it no longer":    {func(p *play) *play { return p.goOn(1).fail(3).pass(-time.Hour) }, state{2, 10 * time.Second, 0}},
		"one that fails after 11 seconds does not count": {func(p *play) *play { return p.pass(11 * time.Second).runs().fail(3) }, state{0, 0, 3}},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			p := test.play(newPlay().look())
			got := state{p.failures.Waves, p.failures.Left(p.Now), len(p.Active)}
			if diff := cmp.Diff(test.want, got); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

func (p *play) wants(size int32) *play {
	p.ReplicaSet.Spec.Replicas = &size
	return p
}

// runs lets the Pods run, so that what ends them is no refusal.
func (p *play) runs() *play {
	p.ran = true
	return p
}

func TestTheReasonOfAPause(t *testing.T) {
	p := newPlay().look().goOn(1).fail(3)
	want := Plan{Wait: 10 * time.Second, Why: "0 of 3 pods are there; pods fail as soon as they are made (NodeAffinity: no), and the next ones are made in 10s"}
	if diff := cmp.Diff(want, Decide(p.Snapshot)); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	p.Refused = 15 * time.Second
	if plan := Decide(p.Snapshot); plan.Wait != p.Refused || !strings.Contains(plan.Why, "refused") {
		t.Errorf("with a longer wait for another reason: %v", plan)
	}
	p.Refused = time.Second
	if plan := Decide(p.Snapshot); plan.Wait != 10*time.Second {
		t.Errorf("with a shorter wait for another reason: %v", plan)
	}
	p.wants(0)
	if plan := Decide(p.Snapshot); plan.Wait != 0 {
		t.Errorf("nothing is missing: %v", plan)
	}
}

func TestLooksAgainWhenAPodHasStayed(t *testing.T) {
	p := newPlay().look().fail(1).look()
	if _, lookAgain := Status(p.Snapshot, Plan{}, Outcome{}); lookAgain != 10*time.Second {
		t.Errorf("looks again after %s", lookAgain)
	}
	p.pass(4 * time.Second)
	if _, lookAgain := Status(p.Snapshot, Plan{}, Outcome{}); lookAgain != 6*time.Second {
		t.Errorf("4 seconds later: looks again after %s", lookAgain)
	}
	p.pass(6 * time.Second)
	if _, lookAgain := Status(p.Snapshot, Plan{}, Outcome{}); lookAgain != 0 {
		t.Errorf("once it has stayed: looks again after %s", lookAgain)
	}
}

func TestASnapshotThatIsNotSettledSaysNothing(t *testing.T) {
	p := newPlay().look()
	p.Settled = false
	if p.fail(3); p.failures.Waves != 0 {
		t.Errorf("counts %d waves", p.failures.Waves)
	}
	p.Settled = true
	if p.look(); p.failures.Waves != 1 {
		t.Errorf("counts %d waves once it is settled", p.failures.Waves)
	}
}

// madeAndFailed is a Pod that was made so long ago and failed some time later, or, below 0, that never ran.
func madeAndFailed(name string, age, later time.Duration) *corev1.Pod {
	return newPod(name, created(age), func(pod *corev1.Pod) {
		pod.Status = corev1.PodStatus{Phase: corev1.PodFailed, Reason: name}
		if later >= 0 {
			pod.Status.ContainerStatuses = []corev1.ContainerStatus{{State: corev1.ContainerState{
				Terminated: &corev1.ContainerStateTerminated{FinishedAt: ago(age - later)},
			}}}
		}
	})
}

func TestWhatAnEarlierProcessHasLeft(t *testing.T) {
	never := -time.Second
	waves := []*corev1.Pod{
		madeAndFailed("d", 15*time.Second, 2*time.Second),
		madeAndFailed("b1", 101*time.Second, never), madeAndFailed("b2", 100*time.Second, never),
		madeAndFailed("c", 60*time.Second, never),
		madeAndFailed("a", 130*time.Second, never),
	}
	tests := map[string]struct {
		failed, active []*corev1.Pod
		waves          int
		cause          string
		left           time.Duration
	}{
		"nothing":                          {nil, newPods(3), 0, "", 0},
		"one that has failed":              {waves[:1], nil, 1, "d", 0},
		"waves, in the order of time":      {waves, nil, 4, "d", 27 * time.Second}, // of 40, 13 ago
		"one that ran for a while":         {[]*corev1.Pod{madeAndFailed("e", time.Minute, 30*time.Second)}, nil, 0, "", 0},
		"and one of an hour ago":           {append(waves[:1:1], madeAndFailed("e", time.Hour, never)), nil, 1, "d", 0},
		"one has stayed since":             {waves, []*corev1.Pod{newPod("good", created(11*time.Second))}, 0, "", 0},
		"one has been there for a moment":  {waves, []*corev1.Pod{newPod("new", created(3*time.Second))}, 4, "d", 27 * time.Second},
		"one was there all the time":       {waves, []*corev1.Pod{newPod("old", created(time.Hour))}, 4, "d", 27 * time.Second},
		"they are of the future":           {[]*corev1.Pod{madeAndFailed("f", -time.Hour, never)}, nil, 1, "f", 0},
		"ended long before they were made": {[]*corev1.Pod{madeAndFailed("g", time.Minute, -time.Hour)}, nil, 1, "g", 0},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			s := newSnapshot(3, test.active, func(s *Snapshot) { s.Failed = test.failed })
			f := Failures{}.After(s)
			// Stamps are whole seconds, and now has half a one more.
			left := f.Left(s.Now).Round(time.Second)
			if f.Waves != test.waves || f.Cause != test.cause || left != test.left {
				t.Errorf("%d waves, %q, %s left", f.Waves, f.Cause, f.Left(s.Now))
			}
			if again := f.After(s); again.Waves != f.Waves {
				t.Errorf("another look counts %d waves, and the first %d", again.Waves, f.Waves)
			}
		})
	}
}
