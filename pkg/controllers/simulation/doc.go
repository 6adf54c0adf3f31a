// Package simulation runs the program in a world of its own, millions of times, and checks after
// every event that what must hold does hold. It is only for tests: the program does not import
// it.
//
//	make sim       a minute of it, on all processors; SIM_TIME=1h, SIM_SEED=n
//	make mutants   small wrong changes to the program, each of which must be noticed
//
//	go test ./pkg/controllers/simulation -run TestReplay -v -seed=n           the story of one seed
//	go test ./pkg/controllers/simulation -run TestReplay -v -file=f.schedule  or of a file
//	go test ./pkg/controllers/simulation -run TestStories -update             the golden stories anew
//	go test ./pkg/controllers/simulation -run TestExhaustive -v               all states of a small rollout
//	go test ./pkg/controllers/simulation -fuzz FuzzSchedule -fuzzminimizetime=1x  schedules by Go's fuzzer
//
// # What runs
//
// The program itself: both control loops as package deployment and package replicaset have
// them, shells and cores. They are not imitated. A loop asks for a client, informers, a queue
// and a clock, and is given those of a World:
//
//   - a client whose API server (server.go, updates.go) has resourceVersions, optimistic
//     locking, preconditions, generations, owner references, finalizers and grace, a garbage
//     collector and two admission plugins;
//   - caches (cache.go) that read the log of each resource in order, each at a pace of its own,
//     one by one or at once, as after a watch that broke off;
//   - a queue (queue.go) and a clock that move only when the world says so;
//   - and, in place of up to 64 requests at once, one at a time. What the package leaves out is
//     that, JSON, HTTP and goroutines that run at the same time; the end-to-end tests have those.
//
// A decision takes microseconds, and nothing waits, so that a core gets through tens of
// thousands of events in a second. We measured that before we chose: the parts of the shells
// that are no decision cost a third of the time, and give what no model would: that the
// freshness of caches, open requests, adoption, backoff and retries are those that are shipped.
//
// # What happens
//
// A schedule is a list of actions (schedule.go), made from a seed. Caches read on, loops sync,
// Pods get further; users want something else (user.go), Pods fail (kubelet.go), requests meet
// faults (fault.go): they are refused, or carried out and the answer is lost, or carried out
// much later; processes crash before and after a write or lose the lease while one is on its
// way; clocks jump. While a request is on its way, other things can happen, another leader
// among them. No seed has every kind of trouble, so that others get further.
//
// In the end users and faults rest (calm.go), and everything else goes on until nothing happens
// any more.
//
// # What is checked
//
// The properties are the functions in properties_*.go. Each says what must hold and, by name,
// what is tolerated. They are written against the contract and not against the code, and
// have their own arithmetic.
//
// A schedule that violates one is shrunk to the actions that matter, and its story is told
// (story.go). Such a schedule is kept in testdata/found; TestFound says what was wrong.
//
// # What else looks at the same
//
// TestStories plays rollouts that people know, from the first one to a leader that dies in the
// middle, on a stage (stage.go): a world in which nothing lags and every Pod takes its time. What
// happens is told as a tale (tale.go), step by step with the reason of each, and kept in
// testdata/stories, so that a change of behavior is seen as a change of a story. TestExhaustive leaves nothing
// to chance: for up to three replicas and every pair of fenceposts it visits all states that a
// rollout can be in, also one that is undone, resized or loses a Pod in the middle, in a model
// (model_test.go) that has both cores and little else. Its comment says where it ends.
package simulation
