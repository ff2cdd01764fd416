"""Compute shaders by OpenGL, without a window: gl_run.py < jobs

A job is a line of TEXT X Y Z SRC DST: files of the shader's text and of the source's bytes, and one that holds the destination before and gets it after;
X, Y and Z are the grid.  Says what ran them; ends with 77 and a sentence where there is no OpenGL 4.3."""

import pathlib
import sys


def context():
    try:
        import moderngl
        return moderngl.create_context(standalone=True, backend="egl", require=430)
    except Exception as e:                     # whatever the driver says, or that there is none
        print("no OpenGL 4.3: %s: %s" % (type(e).__name__, e))
        sys.exit(77)


def main():
    gl, jobs = context(), 0
    for line in sys.stdin:
        text, x, y, z, src, dst = line.split()
        shader = gl.compute_shader(pathlib.Path(text).read_text())
        out, in_ = gl.buffer(pathlib.Path(dst).read_bytes()), gl.buffer(pathlib.Path(src).read_bytes())
        out.bind_to_storage_buffer(0)
        in_.bind_to_storage_buffer(1)
        shader.run(int(x), int(y), int(z))
        gl.finish()
        pathlib.Path(dst).write_bytes(out.read())
        for thing in (shader, out, in_):
            thing.release()
        jobs += 1
    print("%d jobs by %s" % (jobs, gl.info["GL_RENDERER"]))


if __name__ == "__main__":
    main()
