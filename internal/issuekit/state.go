package issuekit

// State is open or closed.
type State uint8

// The states, as they are stored.
const (
	Open   State = 1
	Closed State = 2
)

// String returns "open" or "closed".
func (s State) String() string {
	if s == Closed {
		return "closed"
	}
	return "open"
}

// ParseState reads what String gives.
func ParseState(s string) (state State, ok bool) {
	switch s {
	case "open":
		return Open, true
	case "closed":
		return Closed, true
	}
	return 0, false
}
