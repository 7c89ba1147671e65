"""A WebGPU program: one triangle offscreen, its pixels to the file given. `python -m
tests.render.wgpu_program OUT.npy`: the layer's tests run it with and without the layer."""

from __future__ import annotations

import sys

import numpy as np
import wgpu

SHADER = """
struct Vertex {
    @builtin(position) position: vec4f,
    @location(0) color: vec3f,
    @location(1) unread: vec4f,
    @location(2) same: f32,
};
@vertex fn vertex(@builtin(vertex_index) index: u32) -> Vertex {
    var out: Vertex;
    let corner = vec2f(f32(index & 1u), f32(index >> 1u));
    out.position = vec4f(corner * 3.0 - 1.0, 0.5, 1.0);
    out.color = vec3f(corner, 0.25);
    out.unread = vec4f(f32(index));
    out.same = 0.5;
    return out;
}
@fragment fn fragment(in: Vertex) -> @location(0) vec4f {
    return vec4f(in.color, in.same);
}
"""
SIZE = 64


def main(out: str) -> None:
    device = wgpu.gpu.request_adapter_sync().request_device_sync()
    module = device.create_shader_module(code=SHADER)
    layout = device.create_pipeline_layout(bind_group_layouts=[])
    pipeline = device.create_render_pipeline(
        layout=layout,
        vertex={"module": module, "entry_point": "vertex"},
        primitive={"topology": "triangle-list"},
        fragment={
            "module": module,
            "entry_point": "fragment",
            "targets": [{"format": "rgba8unorm"}],
        },
    )
    usage = wgpu.TextureUsage.RENDER_ATTACHMENT | wgpu.TextureUsage.COPY_SRC
    texture = device.create_texture(size=(SIZE, SIZE, 1), format="rgba8unorm", usage=usage)
    encoder = device.create_command_encoder()
    attachment = {
        "view": texture.create_view(),
        "clear_value": (0, 0, 0, 1),
        "load_op": "clear",
        "store_op": "store",
    }
    drawing = encoder.begin_render_pass(color_attachments=[attachment])
    drawing.set_pipeline(pipeline)
    drawing.draw(3)
    drawing.end()
    device.queue.submit([encoder.finish()])
    pixels = device.queue.read_texture(
        {"texture": texture, "mip_level": 0, "origin": (0, 0, 0)},
        {"offset": 0, "bytes_per_row": SIZE * 4, "rows_per_image": SIZE},
        (SIZE, SIZE, 1),
    )
    np.save(out, np.frombuffer(pixels, np.uint8).reshape(SIZE, SIZE, 4))


if __name__ == "__main__":
    main(sys.argv[1])
