float gust(float place, float time)
{
    return 0.1 * sin(place * 9.0 + time);
}
