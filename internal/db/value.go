package db

import (
	"database/sql/driver"
	"fmt"
	"math"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"
)

// bind turns arguments into what both engines take.
func bind(args []any) ([]any, error) {
	bound := make([]any, len(args))
	for i, a := range args {
		v, err := argument(a)
		if err != nil {
			return nil, fmt.Errorf("argument $%d: %w", i+1, err)
		}
		bound[i] = v
	}
	return bound, nil
}

// argument turns a into one of the few types that both engines take alike:
// nil, int64, float64, bool, string and []byte.
func argument(a any) (any, error) {
	switch v := a.(type) {
	case nil, int64, bool, float64:
		return a, nil
	case []byte:
		if v == nil {
			return nil, nil
		}
		return a, nil
	case string:
		return a, checkText(v)
	case int:
		return int64(v), nil
	case Time:
		if v == 0 {
			return nil, nil
		}
		return int64(v), nil
	case driver.Valuer:
		inner, err := v.Value()
		if err != nil {
			return nil, err
		}
		if _, again := inner.(driver.Valuer); again {
			return nil, fmt.Errorf("%T gives a driver.Valuer", a)
		}
		return argument(inner)
	}
	return argumentOfKind(a)
}

// argumentOfKind accepts named types and pointers. A nil pointer is NULL.
func argumentOfKind(a any) (any, error) {
	v := reflect.ValueOf(a)
	switch v.Kind() {
	case reflect.Pointer:
		if v.IsNil() {
			return nil, nil
		}
		return argument(v.Elem().Interface())
	case reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64:
		return v.Int(), nil
	case reflect.Uint, reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64:
		if v.Uint() > math.MaxInt64 {
			return nil, fmt.Errorf("%d does not fit a BIGINT", v.Uint())
		}
		return int64(v.Uint()), nil
	case reflect.Float32, reflect.Float64:
		return v.Float(), nil
	case reflect.Bool:
		return v.Bool(), nil
	case reflect.String:
		return v.String(), checkText(v.String())
	case reflect.Slice:
		if v.Type().Elem().Kind() == reflect.Uint8 {
			return argument(v.Bytes())
		}
	}
	return nil, fmt.Errorf("type %T is not supported", a)
}

func checkText(s string) error {
	if !utf8.ValidString(s) || strings.IndexByte(s, 0) >= 0 {
		return ErrText
	}
	return nil
}

// MaxValues is how many values of a list one statement has: far below the limits of
// both engines, so that there is room for other parameters.
const MaxValues = 400

// InParts calls fn with part after part of a list, none longer than MaxValues, until one fails.
func InParts[T any](list []T, fn func([]T) error) error {
	for part := range slices.Chunk(list, MaxValues) {
		if err := fn(part); err != nil {
			return err
		}
	}
	return nil
}

// Args returns the arguments before followed by the elements of list.
func Args[T any](list []T, before ...any) []any {
	args := make([]any, 0, len(before)+len(list))
	args = append(args, before...)
	for _, v := range list {
		args = append(args, v)
	}
	return args
}

// Values returns placeholders for an INSERT of many rows: Values(2, 2) is
// "($1,$2),($3,$4)". Values(1, n) is a list for IN.
func Values(rows, columns int) string { return ValuesFrom(1, rows, columns) }

// ValuesFrom is Values whose first placeholder has another number.
func ValuesFrom(first, rows, columns int) string {
	b := make([]byte, 0, rows*(columns*6+3))
	n := first
	for r := range rows {
		if r > 0 {
			b = append(b, ',')
		}
		b = append(b, '(')
		for c := range columns {
			if c > 0 {
				b = append(b, ',')
			}
			b = append(b, '$')
			b = strconv.AppendInt(b, int64(n), 10)
			n++
		}
		b = append(b, ')')
	}
	return string(b)
}

// OrNull is a value to store, with NULL in place of 0 or of an empty text.
func OrNull[V ~int64 | ~string](v V) any {
	var none V
	if v == none {
		return nil
	}
	return v
}

// Unique are the ids that a list has, each once, in the order in which they
// first come: what a list for IN is made of.
func Unique[ID ~int64](ids []ID) []ID {
	if len(ids) == 0 {
		return ids
	}
	seen := make(map[ID]bool, len(ids))
	out := ids[:0:0]
	for _, id := range ids {
		if !seen[id] {
			seen[id] = true
			out = append(out, id)
		}
	}
	return out
}
