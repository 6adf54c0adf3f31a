package node

import "testing"

func TestReplaceAll(t *testing.T) {
	tests := map[string]struct {
		pairs []string
		want  string // "": an error
	}{
		"one text, in all places":             {[]string{"a", "A"}, "AbAc"},
		"one after the other":                 {[]string{"a", "b", "b", "B"}, "BBBc"},
		"a text that is not there":            {[]string{"d", "D"}, ""},
		"the second of two that is not there": {[]string{"a", "A", "d", "D"}, ""},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			got, err := new(scene).replaceAll("abac", test.pairs...)
			if got != test.want || (err != nil) != (test.want == "") {
				t.Errorf("got %q and error %v, want %q", got, err, test.want)
			}
		})
	}
}
