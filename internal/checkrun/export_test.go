package checkrun

import "net/http"

// ReadNew reads the body of a new run.
func ReadNew(r *http.Request) (*Change, error) {
	_, c, err := readNew(r)
	return c, err
}
