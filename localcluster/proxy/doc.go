// Package proxy stands between one client and an API server and lets a test say what
// goes wrong on the way: requests that never arrive, answers that get lost or come late,
// watches that lag behind, stand still or break off.
//
//	between, err := proxy.Start(proxy.Config{Target: config, Certificate: certificate})
//	lost := between.Add(proxy.Rule{
//		Match:  proxy.Match{Verb: "create", Resource: "pods"},
//		Times:  3,
//		Action: proxy.LoseAnswer(),
//	})
//	// Point the client at between.URL, let it work, then check that the rule did something:
//	if lost.Hits() != 3 { … }
//
// Nothing is left to chance: a rule says which requests it is about and how many of
// them, and counts them. Without rules everything passes as it is.
//
// # Who the client is
//
// A client certificate does not pass through a proxy that reads what is said, because the
// client proves with it that nobody else ends the connection. So a proxy serves one
// user: it sends requests on as the user of Config.Target. A request with a bearer token
// goes on with that token and as nobody else, since such a client speaks for several users.
package proxy
