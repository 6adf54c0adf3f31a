package e2e

import (
	"encoding/json"
	"testing"
)

// encode is a value as JSON.
func encode(t *testing.T, value any) string {
	t.Helper()
	text, err := json.Marshal(value)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}
