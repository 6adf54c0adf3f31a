package docs

import (
	"cmp"
	"flag"
	"regexp"
	"testing"

	"controller-manager/cmd/controller-manager/app"
)

// TestEveryFlagIsARuleOfTheContract fails for a flag that no rule of contract.md names in
// `code`, and for one there that does not exist. That each rule has its tests is checked
// for all alike.
func TestEveryFlagIsARuleOfTheContract(t *testing.T) {
	named := map[string]bool{}
	flagInCode := regexp.MustCompile("`--?([a-z][a-z-]*)(?:=[^`]*)?`")
	for _, r := range readRules(t, "contract.md") {
		for _, match := range flagInCode.FindAllStringSubmatch(r.text, -1) {
			named[match[1]] = true
		}
	}
	flags := app.NewOptions().Flags()
	flags.VisitAll(func(f *flag.Flag) {
		if !named[f.Name] {
			t.Errorf("no rule of contract.md says what --%s does; add one, with the test that proves it", f.Name)
		}
	})
	for name := range named {
		if flags.Lookup(name) == nil {
			t.Errorf("contract.md names --%s, and there is no such flag", name)
		}
	}
}

// builtin is how kube-controller-manager 1.37 differs in a flag. The end-to-end tests hold
// the defaults against its --help.
func builtin() map[string]string {
	return map[string]string{
		"config":                     "has none",
		"pod-failure-backoff":        "has none",
		"takeover-check":             "has none",
		"authentication-kubeconfig":  "the same; without it, nobody's token is known",
		"authorization-kubeconfig":   "the same; without it, nobody may read anything",
		"bind-address":               "the same, but `0.0.0.0`",
		"controllers":                "the same, for all its loops",
		"kube-api-qps":               "the same, but `20`",
		"leader-elect-resource-name": "the same, but `kube-controller-manager`",
		"profiling":                  "the same, but `true`",
		"secure-port":                "the same, but `10257`",
		"v":                          "the same, but `0`",
	}
}

// TestFlagsAreWrittenDown fails if the table in flags.md is not that which --help prints.
func TestFlagsAreWrittenDown(t *testing.T) {
	var rows [][]string
	flags := app.NewOptions().Flags()
	flags.VisitAll(func(f *flag.Flag) {
		kind, usage := flag.UnquoteUsage(f)
		name := "--" + f.Name
		if len(f.Name) == 1 {
			name = "-" + f.Name
		}
		if kind != "" {
			name += "=" + kind
		}
		rows = append(rows, []string{code(name), code(f.DefValue), usage, cmp.Or(builtin()[f.Name], "the same")})
	})
	wantTable(t, "flags.md", []string{"flag", "default", "meaning", "kube-controller-manager"}, rows)
	for name := range builtin() {
		if flags.Lookup(name) == nil {
			t.Errorf("what differs is said of --%s, and there is no such flag", name)
		}
	}
}
