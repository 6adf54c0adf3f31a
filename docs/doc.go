// Package docs holds what is written for people, and the tests that keep it true:
//
//   - contract.md: what the two loops and their process do, rule by rule, each with the
//     tests that would fail without it;
//   - better.md: faults of the built-in loops that ours do not have, each with the test that
//     shows both, whose findings are the cells of its table;
//   - operate.md: how to run the program, and what to do when something is wrong;
//   - flags.md, metrics.md: tables made from the code, which "go test ./docs -update" writes
//     anew;
//   - events.md: the events and conditions, which are held against the code.
package docs
