package db

// Lock waits until no transaction on any node holds the lock with this name, and holds it until this one
// ends. It protects conditions that no row stands for, such as a limit on the number of rows. A transaction
// must take it before anything else, take only one, and not increment generations, to avoid deadlocks. On
// SQLite the only writer holds all of them.
func (t *Tx) Lock(name string) error {
	if t.Engine() == SQLite {
		return nil
	}
	return t.Run(`INSERT INTO generations (topic, value) VALUES ($1, 0)
		ON CONFLICT (topic) DO UPDATE SET value = generations.value`, "lock "+name)
}
