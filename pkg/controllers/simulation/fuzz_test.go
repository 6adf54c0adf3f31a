package simulation

import (
	"encoding/binary"
	"testing"
)

// FuzzSchedule lets Go's fuzzer make schedules, guided by what they reach in the loops:
//
//	go test ./pkg/controllers/simulation -fuzz FuzzSchedule -fuzzminimizetime=1x
//
// Without the last flag it spends most of its time on making shorter what it found.
// Five bytes are an action: an operation and two numbers.
func FuzzSchedule(f *testing.F) {
	for seed := range uint64(20) {
		f.Add(packed(Generate(seed)))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		if len(data) > 5*mostActions {
			return
		}
		schedule := unpacked(data)
		if result := Run(schedule); result.Violation != nil {
			t.Errorf("%v\n%s", result.Violation, explained(schedule, result.Violation.Property))
		}
	})
}

// mostActions bounds a schedule: longer ones only take longer.
const mostActions = 400

func packed(schedule []Action) []byte {
	var data []byte
	for _, a := range schedule {
		data = append(data, byte(a.Op))
		data = binary.BigEndian.AppendUint16(data, a.A)
		data = binary.BigEndian.AppendUint16(data, a.B)
	}
	return data
}

func unpacked(data []byte) []Action {
	var schedule []Action
	for ; len(data) >= 5; data = data[5:] {
		schedule = append(schedule, Action{
			Op: Operation(data[0]) % numberOfOperations, A: binary.BigEndian.Uint16(data[1:]), B: binary.BigEndian.Uint16(data[3:]),
		})
	}
	return schedule
}
