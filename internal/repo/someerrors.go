package repo

import "errors"

// Errors are the errors of some of the repositories that an operation on several took, by id. The operation
// returns what it did for the others with it.
type Errors map[ID]error

// Error returns the message of one of them.
func (e Errors) Error() string {
	for _, err := range e {
		return err.Error()
	}
	return "no errors"
}

// OrNil returns nil for no errors.
func (e Errors) OrNil() error {
	if len(e) == 0 {
		return nil
	}
	return e
}

// AreSome reports whether an operation on several repositories failed for some of them alone.
func AreSome(err error) bool {
	var some Errors
	return errors.As(err, &some)
}

// ErrorOf returns the error of an operation on several repositories for one of them.
func ErrorOf(err error, id ID) error {
	if some, ok := errors.AsType[Errors](err); ok {
		return some[id]
	}
	return err
}
