package arbortest

// RunTwice is db.Options.RunTwice.
func RunTwice() Option {
	return func(o *options) error {
		o.RunTwice = true
		return nil
	}
}
