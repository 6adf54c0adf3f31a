// Package docs holds what is written for people, and the tests that keep it true:
//
//   - contract.md: what the two loops and their process do, rule by rule, each with the
//     tests that would fail without it;
//   - flags.md, metrics.md: tables made from the code, which "go test ./docs -update" writes
//     anew.
package docs
