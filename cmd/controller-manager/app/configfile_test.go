package app

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestConfigFile(t *testing.T) {
	tests := map[string]struct {
		content string
		args    []string
		set     func(*Options)
		words   []string // of the error
	}{
		"numbers, truth values and lists are written as in any YAML": {
			content: "secure-port: 20000\nkube-api-qps: 0.5\nleader-elect: false\ncontrollers: [deployment, -replicaset]\n",
			set: func(o *Options) {
				o.SecurePort, o.QPS, o.LeaderElect = 20000, 0.5, false
				o.Controllers = []string{"deployment", "-replicaset"}
			},
		},
		"a flag on the command line wins, and the rest of the file counts": {
			content: "secure-port: 20000\nv: 4\ncontrollers: deployment\n",
			args:    []string{"--secure-port=30000", "--controllers=replicaset"},
			set: func(o *Options) {
				o.SecurePort, o.Verbosity, o.Controllers = 30000, 4, []string{"replicaset"}
			},
		},
		"an unknown setting is named": {
			content: "secure-port: 20000\nport: 1\n", words: []string{`"port"`, "there is no setting"},
		},
		"a file cannot name another one": {
			content: "config: other.yaml\n", words: []string{`"config"`},
		},
		"a file cannot ask for the version": {
			content: "version: true\n", words: []string{`"version"`},
		},
		"a setting is checked as its flag is": {
			content: "secure-port: 99999\n", words: []string{"--secure-port=99999"},
		},
		"a setting of the wrong kind is named": {
			content: "secure-port: often\n", words: []string{`"secure-port"`},
		},
		"a setting of settings is refused": {
			content: "secure-port: {a: 1}\n", words: []string{`"secure-port"`, "must be a text"},
		},
		"a list with a list inside is refused": {
			content: "controllers: [[a]]\n", words: []string{`"controllers"`},
		},
		"a setting given twice is refused": {
			content: "v: 1\nv: 2\n", words: []string{"already set"},
		},
		"something else than settings is refused": {
			content: "- v\n", words: []string{"settings by name"},
		},
		"a comment before the settings may be a document": {
			content: "# ours\n---\nv: 4\n", set: func(o *Options) { o.Verbosity = 4 },
		},
		"a second document is refused, not passed over": {
			content: "v: 1\n---\nnonsense: 1\n", words: []string{"several documents"},
		},
		"a file that is no text is refused": {
			content: "\xff\xfe", words: []string{"UTF-8"},
		},
		"a file that has no end is refused": {
			content: strings.Repeat("#\n", 1<<19) + "#", words: []string{"longer than 1 MiB"},
		},
		"of a file that is wrong in every line not every line is told": {
			content: strings.Repeat("v: 1\n", 10000), words: []string{"already set"},
		},
		"a file that is no YAML is refused": {
			content: "v: [\n", words: []string{"reading YAML"},
		},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			path := writeFile(t, "config.yaml", test.content)
			got, err := parse(t, append(test.args, "--config="+path)...)
			if test.words != nil {
				if err == nil {
					t.Fatal("got no error")
				}
				isOneLine(t, oneLine(err)+"\n", test.words...)
				if len(err.Error()) > 1000 {
					t.Errorf("the error has %d characters", len(err.Error()))
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			want := mustParse(t)
			test.set(want)
			want.ConfigFile = path
			if diff := cmp.Diff(want, got, settings); diff != "" {
				t.Errorf("options (-want +got):\n%s", diff)
			}
		})
	}
}
