package docs

import (
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
