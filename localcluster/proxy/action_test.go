package proxy

import (
	"bufio"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

func TestWhatEachActionDoes(t *testing.T) {
	const some = 50 * time.Millisecond
	passed := "200 POST " + pods + " body"
	tests := map[string]struct {
		action  Action
		asked   int32 // requests that reach the server
		answer  string
		atLeast time.Duration
	}{
		"a delayed request is sent on":               {action: Delay(some), asked: 1, answer: passed, atLeast: some},
		"a delayed answer arrives whole":             {action: DelayAnswer(some), asked: 1, answer: passed, atLeast: some},
		"an answer that is not held arrives":         {action: Hold(new(Gate)), asked: 1, answer: passed},
		"a request that is not held is sent on":      {action: HoldRequest(new(Gate)), asked: 1, answer: passed},
		"a dropped request never reaches the server": {action: Drop(), asked: 0, answer: "broken"},
		"a lost answer was one":                      {action: LoseAnswer(), asked: 1, answer: "broken"},
		"an answer that is cut before its beginning": {action: CutAfter(0), asked: 1, answer: "broken"},
		"an answer of its own": {action: Answer(apierrors.NewAlreadyExists(schema.GroupResource{Resource: "pods"}, "a")), asked: 0,
			answer: `409 {"kind":"Status","apiVersion":"v1","metadata":{},"status":"Failure","message":"pods \"a\" already exists","reason":"AlreadyExists","details":{"name":"a","kind":"pods"},"code":409}` + "\n"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			b := start(t, ok)
			rule := b.Add(Rule{Match: Match{Verb: "create", Resource: "pods"}, Action: test.action})
			began := time.Now()
			got := b.send("POST", pods)
			if diff := cmp.Diff(test.answer, got); diff != "" {
				t.Errorf("answer (-want +got):\n%s", diff)
			}
			if took := time.Since(began); took < test.atLeast {
				t.Errorf("it took %s, want %s or more", took, test.atLeast)
			}
			if asked := b.asked.Load(); asked != test.asked || rule.Hits() != 1 {
				t.Errorf("the server saw %d requests, want %d; the rule acted on %d, want 1", asked, test.asked, rule.Hits())
			}
			rule.Remove()
			if got := b.send("POST", pods); got != passed {
				t.Errorf("without the rule the answer is %q, want %q", got, passed)
			}
		})
	}
}

// TestARequestThatIsHeld does not reach the server before the gate opens.
func TestARequestThatIsHeld(t *testing.T) {
	var gate Gate
	gate.Shut()
	b := start(t, ok)
	b.Add(Rule{Action: func(next http.Handler) http.Handler {
		held := HoldRequest(&gate)(next)
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			time.AfterFunc(50*time.Millisecond, func() {
				if asked := b.asked.Load(); asked != 0 {
					t.Errorf("the server saw %d requests while the gate was shut", asked)
				}
				gate.Open()
			})
			held.ServeHTTP(w, r)
		})
	}})
	if got, want := b.send("POST", pods), "200 POST "+pods+" body"; got != want {
		t.Errorf("answer %q, want %q", got, want)
	}
}

func TestAnAnswerSaysWhenToTryAgain(t *testing.T) {
	b := start(t, ok)
	b.Add(Rule{Action: Answer(apierrors.NewTooManyRequests("later", 7))})
	response, err := b.do("POST", pods, "")
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	if got := response.Header.Get("Retry-After"); response.StatusCode != http.StatusTooManyRequests || got != "7" {
		t.Errorf("status %d and Retry-After %q, want 429 and 7", response.StatusCode, got)
	}
}

// TestAWatch lets a server send three events and looks at which of them arrive.
func TestAWatch(t *testing.T) {
	var gate Gate
	gate.Shut()
	tests := map[string]struct {
		action Action
		before []string // what arrives before the gate opens
		after  []string // and then, and how it ends
	}{
		"passes event by event":             {nil, []string{"1", "2", "3"}, []string{"EOF"}},
		"lags behind, in order":             {DelayAnswer(20 * time.Millisecond), []string{"1", "2", "3"}, []string{"EOF"}},
		"stands still until the gate opens": {Hold(&gate), nil, []string{"1", "2", "3", "EOF"}},
		"breaks off after some events":      {CutAfter(2), []string{"1", "2"}, []string{"broken"}},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			read := make(chan struct{}, 3)
			b := start(t, func(w http.ResponseWriter, r *http.Request) {
				for i := 1; i <= 3; i++ {
					fmt.Fprintln(w, i)
					_ = http.NewResponseController(w).Flush()
					if test.before == nil {
						continue
					}
					select {
					case <-read:
					case <-r.Context().Done():
						return
					}
				}
			})
			if test.action != nil {
				b.Add(Rule{Match: Match{Verb: "watch"}, Action: test.action})
			}
			events := make(chan string)
			go b.watch(events, read)
			for _, want := range test.before {
				if got := <-events; got != want {
					t.Errorf("got %q, want %q", got, want)
				}
			}
			if test.before == nil {
				select {
				case got := <-events:
					t.Errorf("got %q before the gate opened", got)
				case <-time.After(50 * time.Millisecond): // it can only hide a fault
				}
				gate.Open()
			}
			for _, want := range test.after {
				if got := <-events; got != want {
					t.Errorf("got %q, want %q", got, want)
				}
			}
		})
	}
}

// watch delivers the lines of a watch, and how it ended.
func (b *between) watch(events chan<- string, read chan<- struct{}) {
	response, err := b.do("GET", "/api/v1/pods?watch=true", "")
	if err != nil {
		events <- "broken"
		return
	}
	defer response.Body.Close()
	lines := bufio.NewReader(response.Body)
	for {
		line, err := lines.ReadString('\n')
		switch err {
		case nil:
			events <- strings.TrimSpace(line)
			read <- struct{}{}
		case io.EOF:
			events <- "EOF"
			return
		default:
			events <- "broken"
			return
		}
	}
}
