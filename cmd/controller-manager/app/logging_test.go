package app

import (
	"bytes"
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/klog/v2"
)

func TestJSONLogIsOneObjectALine(t *testing.T) {
	var out bytes.Buffer
	options := mustParse(t, "--logging-format=json", "-v=3")
	if err := setUpLogging(options, &out); err != nil {
		t.Fatal(err)
	}
	logger := klog.Background()
	pod := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: "a", Name: "b"}}
	logger.V(3).Info("Created", "pod", klog.KObj(pod), "count", 2)
	logger.V(4).Info("Too detailed")
	logger.Error(errors.New("no room"), "Failed")

	var got []map[string]any
	for line := range strings.Lines(out.String()) {
		var object map[string]any
		if err := json.Unmarshal([]byte(line), &object); err != nil {
			t.Fatalf("%q: %v", line, err)
		}
		if seconds, ok := object["ts"].(float64); !ok || seconds < 1.7e9 {
			t.Errorf("got time %v, want seconds since 1970", object["ts"])
		}
		delete(object, "ts")
		caller, _ := object["caller"].(string)
		object["caller"], _, _ = strings.Cut(caller, ":")
		got = append(got, object)
	}
	want := []map[string]any{
		{"v": 3.0, "caller": "app/logging_test.go", "msg": "Created", "pod": map[string]any{"namespace": "a", "name": "b"}, "count": 2.0},
		{"level": "error", "caller": "app/logging_test.go", "msg": "Failed", "err": "no room"},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("lines (-want +got):\n%s", diff)
	}
}

func TestLevelsOfDetail(t *testing.T) {
	tests := map[string]struct {
		args  []string
		level int
	}{
		"what was done is logged without asking": {nil, 2},
		"-v says how much":                       {[]string{"-v=4"}, 4},
		"-v may say nothing but the headlines":   {[]string{"-v=0"}, 0},
		"a source file may say more":             {[]string{"--vmodule=logging_test=7"}, 7},
		"another source file changes nothing":    {[]string{"--vmodule=elsewhere=7"}, 2},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			mustParse(t, test.args...)
			logger := klog.Background()
			if !logger.V(test.level).Enabled() {
				t.Errorf("level %d is not logged", test.level)
			}
			if logger.V(test.level + 1).Enabled() {
				t.Errorf("level %d is logged", test.level+1)
			}
		})
	}
}

func TestAFailureIsSaidInTheFormatOfTheLog(t *testing.T) {
	failure := errors.Join(errors.New("one"), errors.New("two"))
	tests := map[string]struct {
		args []string
		code int
		want string
	}{
		"as text": {nil, exitFailed, "controller-manager: one; two\n"},
		"as JSON": {[]string{"--logging-format=json"}, exitFailed, `"msg":"Stopped by an error","err":"one\ntwo"`},
		"as text when the command line is wrong, whatever it says of the log": {
			[]string{"--logging-format=json"}, exitUsage, "controller-manager: one; two (--help lists the flags)\n"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			var out bytes.Buffer
			options := mustParse(t, test.args...)
			if err := setUpLogging(options, &out); err != nil {
				t.Fatal(err)
			}
			report(options, test.code, &out, failure)
			if !strings.Contains(out.String(), test.want) {
				t.Errorf("got %q, want %q in it", out.String(), test.want)
			}
			isOneLine(t, out.String())
		})
	}
}
