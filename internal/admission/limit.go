package admission

// limit is a bounded resource.
type limit struct {
	most      int64 // bytes
	kept      int64 // of these, reserved for callers with an account
	cap       int64 // instead of kept: the most that callers without an account use together
	open      int64 // and for those without one; never more than most - kept
	used      int64
	strangers int64 // used by anonymous callers
}

// room is the most that a holder could ever get, and free the most it could get now. Callers with an account
// leave what others have not yet used of their part.
func (l *limit) room(who Holder) int64 {
	switch {
	case who.Account != 0:
		return l.most - l.open
	case l.cap > 0:
		return l.cap
	}
	return l.most - l.kept
}

func (l *limit) free(who Holder) int64 {
	theirs := l.open - l.strangers
	switch {
	case who.Account != 0:
		return l.most - l.used - max(theirs, 0)
	case l.cap > 0:
		return min(l.most-l.used, l.cap-l.strangers)
	}
	return max(l.most-l.kept-l.used, theirs)
}

// add counts bytes that a holder gets or returns.
func (l *limit) add(who Holder, bytes int64) {
	l.used += bytes
	if who.Account == 0 {
		l.strangers += bytes
	}
}
