package db

// Lock waits until no other transaction, on whatever node, holds the lock of that name, and holds it until
// this one ends. It is for what no row stands for, such as a bound on how many rows there are. A transaction
// takes it before anything else, takes one alone and bumps nothing, so that none waits in a circle. SQLite has
// one writer at a time, who holds all of them.
func (t *Tx) Lock(name string) error {
	if t.Engine() == SQLite {
		return nil
	}
	return t.Run(`INSERT INTO generations (topic, value) VALUES ($1, 0)
		ON CONFLICT (topic) DO UPDATE SET value = generations.value`, "lock "+name)
}
