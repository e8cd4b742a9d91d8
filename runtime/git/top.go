package git

import "context"

// Top is the directory of the working tree that holds dir, without symlinks, found by files alone; the error says why
// there is none. Two directories with the same Top share their files, and what git knows of them.
func Top(ctx context.Context, dir string) (string, error) {
	t, err := locate(ctx, dir)
	if err != nil {
		return "", worded(dir, err)
	}
	return t.Top, nil
}
