//go:build long

package main

import (
	"time"

	"github.com/anishathalye/porcupine"
)

// operation is what a client did to a register: the value of a ref, or the state of a repository, star, token or pull
// request. The first value is empty.
type operation struct {
	register string
	write    bool
	value    string  // that is written
	from     *string // the value that it must have had; nil: any
	unknown  bool    // nobody knows whether it was written
}

// elapsed is the time of the history.
func (c *chaos) elapsed() int64 { return time.Since(c.begun).Nanoseconds() }

// noteRead notes that a value was read.
func (c *chaos) noteRead(client int, register, value string, begun int64) {
	c.note(client, operation{register: register}, value, begun, c.elapsed())
}

// noteWrite notes an answered write: a success, or one of which nobody knows. Others changed nothing.
func (c *chaos) noteWrite(client int, in operation, status int, begun int64) {
	in.write = true
	if status/100 == 2 {
		c.note(client, in, nil, begun, c.elapsed())
	} else if !isKnown(status) {
		in.unknown = true
		c.note(client, in, nil, begun, 1<<62)
	}
}

func (c *chaos) note(client int, in operation, out any, begun, ended int64) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.history = append(c.history, porcupine.Operation{ClientId: client, Input: in, Output: out, Call: begun,
		Return: ended})
}

// step is one call in an order of all: whether it may come in a state, and the state after it.
func step(state, input, output any) (bool, any) {
	in := input.(operation)
	switch is := in.from == nil || *in.from == state; {
	case !in.write:
		return output == state, state
	case is:
		return true, in.value
	default:
		return in.unknown, state
	}
}

// checkHistory holds that there is an order of all calls of each register that explains what clients were told: so
// nobody read an old value, and of two that replace one value one succeeded.
func (c *chaos) checkHistory() {
	model := porcupine.Model{
		Partition: func(history []porcupine.Operation) (parts [][]porcupine.Operation) {
			by := map[string][]porcupine.Operation{}
			for _, op := range history {
				register := op.Input.(operation).register
				by[register] = append(by[register], op)
			}
			for _, part := range by {
				parts = append(parts, part)
			}
			return parts
		},
		Init: func() any { return "" },
		Step: step,
	}
	parts, undecided := model.Partition(c.history), 0
	for _, part := range parts {
		result := porcupine.CheckOperationsTimeout(porcupine.Model{Init: model.Init, Step: step}, part, time.Minute)
		if result == porcupine.Ok {
			continue
		}
		if result == porcupine.Unknown {
			undecided++
			c.t.Logf("%s was not checked: it takes longer than a minute", part[0].Input.(operation).register)
			continue
		}
		c.t.Errorf("%s is not linearizable", part[0].Input.(operation).register)
		for _, op := range part {
			c.t.Logf("%d: %+v -> %v, %s to %s", op.ClientId, op.Input, op.Output, time.Duration(op.Call),
				time.Duration(op.Return))
		}
	}
	if undecided*10 > len(parts) {
		c.t.Errorf("of %d registers %d were not checked", len(parts), undecided)
	}
}
