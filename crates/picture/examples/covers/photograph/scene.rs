//! The light that reaches the camera.

use super::random::Random;

/// Returns the red, green and blue light of a scene: a sky or wall behind objects of all sizes ("dead leaves"), each
/// with a shade and with a texture that has more contrast in coarse detail than in fine detail.
pub fn scene(width: usize, height: usize, random: &mut Random) -> [Vec<f32>; 3] {
    let texture = texture(width, height, random);
    let back = Surface::new(random, 0.3);
    let mut planes = [0, 1, 2].map(|color| {
        let light =
            |at: usize| back.light(color, (at % width) as f32 / width as f32, (at / width) as f32 / height as f32);
        (0..width * height).map(|at| light(at) * (1.0 + back.contrast * texture[at])).collect::<Vec<f32>>()
    });
    let objects = 20 + (random.unit() * 200.0) as usize;
    for _ in 0..objects {
        Object::new(width, height, random).paint(&mut planes, &texture, width, height);
    }
    planes
}

/// Blurs a plane as a lens does, with the weights 1 2 1 in both directions.
pub fn blur(plane: &mut [f32], width: usize) {
    for row in plane.chunks_exact_mut(width) {
        smooth(row, 1);
    }
    for column in 0..width {
        smooth(&mut plane[column..], width);
    }
}

fn smooth(values: &mut [f32], step: usize) {
    let mut before = values[0];
    for at in (0..values.len()).step_by(step) {
        let (this, next) = (values[at], *values.get(at + step).unwrap_or(&values[at]));
        values[at] = 0.25 * before + 0.5 * this + 0.25 * next;
        before = this;
    }
}

/// The color of an object, with a shade that changes from one side to the other.
struct Surface {
    color: [f32; 3],
    slope: [f32; 2],
    contrast: f32,
}

impl Surface {
    fn new(random: &mut Random, contrast: f32) -> Self {
        let brightness = 0.03 + 0.8 * random.unit() * random.unit();
        let color = [0; 3].map(|_| brightness * random.between(0.6, 1.3));
        let slope = [0; 2].map(|_| random.between(-0.5, 0.5));
        Self { color, slope, contrast: contrast * random.unit() }
    }

    fn light(&self, color: usize, x: f32, y: f32) -> f32 {
        self.color[color] * (1.0 + self.slope[0] * (x - 0.5) + self.slope[1] * (y - 0.5))
    }
}

/// An ellipse or a rectangle at any angle.
struct Object {
    surface: Surface,
    center: [f32; 2],
    axes: [f32; 2],
    angle: f32,
    round: bool,
}

impl Object {
    fn new(width: usize, height: usize, random: &mut Random) -> Self {
        // The sizes are distributed as for natural objects: there are eight times as many objects of half the size.
        let size = width as f32 * 0.02 / (1.0 - 0.99 * random.unit()).sqrt();
        Self {
            surface: Surface::new(random, 0.6),
            center: [width as f32 * random.unit(), height as f32 * random.unit()],
            axes: [size * random.between(0.4, 1.6), size * random.between(0.4, 1.6)],
            angle: random.between(0.0, std::f32::consts::PI),
            round: random.unit() < 0.6,
        }
    }

    fn paint(&self, planes: &mut [Vec<f32>; 3], texture: &[f32], width: usize, height: usize) {
        let reach = self.axes[0].hypot(self.axes[1]);
        let range =
            |center: f32, end: usize| (center - reach).max(0.0) as usize..((center + reach).max(0.0) as usize).min(end);
        let (sine, cosine) = self.angle.sin_cos();
        for y in range(self.center[1], height) {
            for x in range(self.center[0], width) {
                let (right, down) = (x as f32 - self.center[0], y as f32 - self.center[1]);
                let along = (right * cosine + down * sine) / self.axes[0];
                let across = (down * cosine - right * sine) / self.axes[1];
                let inside = if self.round {
                    along * along + across * across < 1.0
                } else {
                    along.abs().max(across.abs()) < 0.8
                };
                if inside {
                    let at = y * width + x;
                    let shade = 1.0 + self.surface.contrast * texture[at];
                    for (color, plane) in planes.iter_mut().enumerate() {
                        plane[at] = self.surface.light(color, 0.5 + 0.5 * along, 0.5 + 0.5 * across) * shade;
                    }
                }
            }
        }
    }
}

/// Returns texture from −1 to 1 as a sum of smoothed random lattices: detail of half the size has half the contrast, as
/// in nature.
fn texture(width: usize, height: usize, random: &mut Random) -> Vec<f32> {
    let mut texture = vec![0.0; width * height];
    for octave in 0..6 {
        let cell = (64 >> octave) as f32;
        let columns = width / (64 >> octave) + 2;
        let lattice: Vec<f32> =
            (0..columns * (height / (64 >> octave) + 2)).map(|_| random.between(-1.0, 1.0)).collect();
        for (at, sum) in texture.iter_mut().enumerate() {
            let (x, y) = ((at % width) as f32 / cell, (at / width) as f32 / cell);
            let corner = y as usize * columns + x as usize;
            let [right, down] = [x.fract(), y.fract()].map(|part| part * part * (3.0 - 2.0 * part));
            let upper = lattice[corner] * (1.0 - right) + lattice[corner + 1] * right;
            let lower = lattice[corner + columns] * (1.0 - right) + lattice[corner + columns + 1] * right;
            *sum += (upper * (1.0 - down) + lower * down) * 0.5_f32.powi(octave + 1);
        }
    }
    texture
}
