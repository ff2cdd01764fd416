"""Compute shaders in WGSL by wgpu, a package of PyPI: wgpu_run.py < jobs

A job is a line of TEXT ENTRY X Y Z SRC DST, as of gl_run.py; `-` for SRC only checks the text.  A line "wrong TEXT: why" for each that wgpu refuses; ends
with 77 and a sentence where there is no wgpu or no device."""

import pathlib
import sys


def device():
    try:
        import wgpu
        return wgpu, wgpu.gpu.request_adapter_sync(power_preference="low-power").request_device_sync()
    except Exception as e:                     # whatever the driver says, or that there is none
        print("no wgpu: %s: %s" % (type(e).__name__, str(e).splitlines()[0]))
        sys.exit(77)


def run(wgpu, d, module, entry, grid, src, dst):
    usage = wgpu.BufferUsage.STORAGE | wgpu.BufferUsage.COPY_SRC | wgpu.BufferUsage.COPY_DST
    buffers = [d.create_buffer_with_data(data=pathlib.Path(p).read_bytes(), usage=usage) for p in (dst, src)]
    pipeline = d.create_compute_pipeline(layout="auto", compute={"module": module, "entry_point": entry})
    group = d.create_bind_group(layout=pipeline.get_bind_group_layout(0), entries=[{"binding": i, "resource": {"buffer": b}} for i, b in enumerate(buffers)])
    encoder = d.create_command_encoder()
    p = encoder.begin_compute_pass()
    p.set_pipeline(pipeline)
    p.set_bind_group(0, group)
    p.dispatch_workgroups(*grid)
    p.end()
    d.queue.submit([encoder.finish()])
    pathlib.Path(dst).write_bytes(d.queue.read_buffer(buffers[0]))


def main():
    wgpu, d = device()
    for line in sys.stdin:
        text, entry, x, y, z, src, dst = line.split()
        try:
            module = d.create_shader_module(code=pathlib.Path(text).read_text())
            if src != "-":
                run(wgpu, d, module, entry, (int(x), int(y), int(z)), src, dst)
        except Exception as e:                 # of wgpu, for each job
            print("wrong %s: %s" % (text, " ".join(str(e).split())))


if __name__ == "__main__":
    main()
