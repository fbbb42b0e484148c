package db

// OpenWith is Open with other migrations than the embedded ones.
var OpenWith = open

// Words gives the words of a text.
func Words(text string) (list []string) {
	words(text, func(w string) { list = append(list, w) })
	return list
}
