package skew

import "testing"

func TestTerminatingCount(t *testing.T) {
	two, three := int32(2), int32(3)
	tests := map[string]struct {
		sent, back      *int32 // of the last write
		reported, count *int32
		want            *int32
	}{
		"before the first write the field is thought to be kept": {nil, nil, nil, &two, &two},
		"a count that was kept is compared":                      {&two, &two, &two, &three, &three},
		"one that was dropped is not":                            {&two, nil, nil, &three, nil},
		"but one that is there, from before, is":                 {&two, nil, &two, &three, &three},
		"without a count nothing is learnt":                      {nil, nil, nil, &three, &three},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			var c TerminatingCount
			c.Wrote(test.sent, test.back)
			if got := c.ToCompare(test.reported, test.count); got != test.want {
				t.Errorf("compares %v, want %v", got, test.want)
			}
		})
	}
	t.Run("an API server that was upgraded is noticed", func(t *testing.T) {
		var c TerminatingCount
		c.Wrote(&two, nil)
		c.Wrote(&two, &two)
		if got := c.ToCompare(nil, &three); got != &three {
			t.Error("the count is not compared")
		}
	})
}
