package localcluster

import (
	"slices"
	"strings"
	"testing"
)

func TestOptionsThatMakeNoSenseAreRefused(t *testing.T) {
	tests := map[string]struct {
		options Options
		want    string // in the error; empty: none
	}{
		"the zero value is fine":                 {Options{}, ""},
		"a component that others need stays":     {Options{Without: []string{Etcd}}, `"etcd" cannot be left out`},
		"flags for an unknown component":         {Options{ExtraArgs: map[string][]string{"kubelet": nil}}, `no component "kubelet"`},
		"fewer than no nodes":                    {Options{Nodes: -1}, "-1 is negative"},
		"flags for a component and one left out": {Options{Without: []string{Kwok}, ExtraArgs: map[string][]string{Etcd: {"--log-level=warn"}}}, ""},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			err := test.options.validate()
			switch {
			case test.want == "" && err != nil:
				t.Errorf("refused: %v", err)
			case test.want != "" && (err == nil || !strings.Contains(err.Error(), test.want)):
				t.Errorf("error is %v, want one that contains %q", err, test.want)
			}
		})
	}
}

func TestCommandsFollowTheOptions(t *testing.T) {
	tests := map[string]struct {
		options Options
		names   []string
		flag    string // of the controller-manager, the only one of its name
	}{
		"by default our loops are off": {
			Options{}, ComponentNames(), builtinLoopsOff,
		},
		"with the built-in loops everything is on": {
			Options{BuiltinLoops: true}, ComponentNames(), "--controllers=*",
		},
		"extra flags take the place of our own": {
			Options{ExtraArgs: map[string][]string{ControllerManager: {"--controllers=none"}}}, ComponentNames(), "--controllers=none",
		},
		"what is left out is not started": {
			Options{Without: []string{Scheduler, Kwok}}, []string{Etcd, APIServer, ControllerManager}, builtinLoopsOff,
		},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			commands, err := prepared(t).commands(test.options)
			if err != nil {
				t.Fatal(err)
			}
			var names []string
			var flags []string
			for _, command := range commands {
				names = append(names, command.Name)
				for _, arg := range command.Args {
					if command.Name == ControllerManager && strings.HasPrefix(arg, "--controllers=") {
						flags = append(flags, arg)
					}
				}
			}
			if !slices.Equal(names, test.names) {
				t.Errorf("started %v, want %v", names, test.names)
			}
			if !slices.Equal(flags, []string{test.flag}) {
				t.Errorf("the flags are %q, want %q", flags, test.flag)
			}
		})
	}
}
