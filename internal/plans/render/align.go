package render

// align walks two sequences side by side along their longest common
// subsequence. visit gets the index of an element in each, or -1 where the other
// has no counterpart. Elements between two common ones are removed first and
// then added; neighbours that pair accepts are visited together.
//
// Of equal elements, the first that comes counts as the common one, which is how
// Terraform shows them.
func align[T any](before, after []T, equal, pair func(a, b T) bool, visit func(i, j int)) {
	i, j := 0, 0
	between := func(isNext func(v T) bool) {
		for i < len(before) && !isNext(before[i]) {
			if j < len(after) && !isNext(after[j]) && pair(before[i], after[j]) {
				visit(i, j)
				i, j = i+1, j+1
				continue
			}
			visit(i, -1)
			i++
		}
		for ; j < len(after) && !isNext(after[j]); j++ {
			visit(-1, j)
		}
	}
	for _, at := range commonSubsequence(before, after, equal) {
		between(func(v T) bool { return equal(v, before[at]) })
		visit(i, j)
		i, j = i+1, j+1
	}
	between(func(T) bool { return false })
}

// maxAlignCells bounds the table of [commonSubsequence]: 4M cells are 16 MB.
const maxAlignCells = 4 << 20

// commonSubsequence returns the indices in before of a longest common
// subsequence. Sequences too long for the table are compared at their ends only.
func commonSubsequence[T any](before, after []T, equal func(a, b T) bool) []int {
	head := 0
	for head < len(before) && head < len(after) && equal(before[head], after[head]) {
		head++
	}
	tail := 0
	for tail < len(before)-head && tail < len(after)-head && equal(before[len(before)-1-tail], after[len(after)-1-tail]) {
		tail++
	}
	var out []int
	for i := range head {
		out = append(out, i)
	}
	for _, i := range commonTable(before[head:len(before)-tail], after[head:len(after)-tail], equal) {
		out = append(out, i+head)
	}
	for k := tail; k > 0; k-- {
		out = append(out, len(before)-k)
	}
	return out
}

// commonTable is the textbook solution by dynamic programming. Where there are
// several, it drops elements of b from the end first.
func commonTable[T any](a, b []T, equal func(x, y T) bool) []int {
	if len(a) == 0 || len(b) == 0 || len(a) > maxAlignCells/len(b) {
		return nil
	}
	width := len(b) + 1
	length := make([]int32, (len(a)+1)*width)
	for i, x := range a {
		for j, y := range b {
			cell := (i+1)*width + j + 1
			if equal(x, y) {
				length[cell] = length[i*width+j] + 1
			} else {
				length[cell] = max(length[i*width+j+1], length[cell-1])
			}
		}
	}
	out := make([]int, length[len(a)*width+len(b)])
	for i, j, k := len(a), len(b), len(out)-1; k >= 0; {
		switch {
		case equal(a[i-1], b[j-1]):
			i, j = i-1, j-1
			out[k] = i
			k--
		case length[(i-1)*width+j] > length[i*width+j-1]:
			i--
		default:
			j--
		}
	}
	return out
}
