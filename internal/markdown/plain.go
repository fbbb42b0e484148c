package markdown

// Plain returns what a plain text names, a commit's message for one: nothing in
// it is markup. What exceeds [MaxSource] is not read.
func Plain(text string) References {
	s := scanner{text: clean(text), finds: &finds{}}
	s.run(func(int, int, kind, int) {})
	return s.refs
}
