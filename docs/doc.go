// Package docs holds what is written for people, and the tests that keep it true:
//
//   - contract.md: what the two loops and their process do, rule by rule, each with the
//     tests that would fail without it.
package docs
