package db

import "sync"

// bells are the channels of those who wait for a topic, each with room for one ring.
type bells struct {
	mu sync.Mutex
	of map[string][]chan struct{}
}

func (b *bells) ring(topic string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, c := range b.of[topic] {
		select {
		case c <- struct{}{}:
		default:
		}
	}
}

// Bell returns a new channel that receives a value when one of the topics is rung. Several rings before a
// receive are one. It does not cover other processes, so the worker must also poll occasionally.
func (d *DB) Bell(topics ...string) <-chan struct{} {
	b, c := &d.bells, make(chan struct{}, 1)
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.of == nil {
		b.of = map[string][]chan struct{}{}
	}
	for _, topic := range topics {
		b.of[topic] = append(b.of[topic], c)
	}
	return c
}

// Ring wakes the workers that hear the topic's bell, at once.
func (d *DB) Ring(topic string) { d.bells.ring(topic) }

// Ring wakes the workers that hear the topic's bell, after the commit.
func (t *Tx) Ring(topic string) {
	bells := t.bells
	t.OnCommit(func() { bells.ring(topic) })
}
